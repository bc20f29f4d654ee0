"""The end of an account, asked for by its owner."""
