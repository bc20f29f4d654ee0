"""Notifications: the inbox of each account, and sending to many accounts."""
