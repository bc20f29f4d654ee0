"""Benchmarks against other libraries: `python -m bench` starts them, measures in turns, prints
ratios."""
