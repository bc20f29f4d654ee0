"""The command line: `flask accounts …`, `flask frontdesk doctor`, `flask db …`."""
