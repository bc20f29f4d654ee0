"""Helpers for tests of the console's pages, with and without a real browser."""
