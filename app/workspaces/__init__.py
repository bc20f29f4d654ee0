"""Workspaces: their members, invitations and access decorators."""
