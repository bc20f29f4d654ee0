"""Looking after other people's accounts."""
