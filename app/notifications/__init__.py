"""Notifications: each account's inbox, and what is sent to it by admins, by the host, by us."""
