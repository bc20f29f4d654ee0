"""The audit log: reading, export and retention."""
