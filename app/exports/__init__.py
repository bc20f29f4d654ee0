"""Data exports: all data of an account, for its owner."""
