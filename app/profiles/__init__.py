"""Profiles of accounts, with avatars."""
