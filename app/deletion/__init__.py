"""Deletion of accounts by their owners."""
