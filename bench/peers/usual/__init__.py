"""A typical Flask service."""
