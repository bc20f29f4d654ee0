"""Passkeys: signing in with a key that a device keeps, and no name to type."""
