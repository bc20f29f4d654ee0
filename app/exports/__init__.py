"""A copy of all that is held of an account, for whom it is about."""
