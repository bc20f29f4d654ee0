"""Native partitions of large tables on PostgreSQL, created while the application runs."""
