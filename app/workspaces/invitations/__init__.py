"""Invitations: an account joins a workspace only after it accepts."""
