"""Registration of accounts and email verification."""
