"""One profile for each account, and its avatar."""
