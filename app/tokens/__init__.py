"""Tokens for programs: personal tokens of accounts."""
