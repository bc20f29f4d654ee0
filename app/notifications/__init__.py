"""Notifications: the inbox of each account, and messages by admins and the application."""
