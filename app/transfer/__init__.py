"""Accounts on their way in and out: files of our own form, and those that others write."""
