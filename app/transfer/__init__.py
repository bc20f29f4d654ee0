"""Import and export of accounts: Frontdesk's own file format and those of other systems."""
