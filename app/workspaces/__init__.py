"""Workspaces: which room somebody may enter, and as what."""
