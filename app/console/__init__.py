"""Pages for the visitor, the account's owner and the admin."""
