"""Accounts. The model is a mixin, so that an application can use its own table."""
