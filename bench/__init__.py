"""Benchmarks against peers: `python -m bench` sets them up, measures in turns, prints ratios."""
