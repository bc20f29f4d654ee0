"""User management by administrators."""
