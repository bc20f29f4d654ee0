"""A file for each benchmark."""
