"""Figures beside the peers: `python -m bench` sets all up, measures in turns, prints ratios."""
