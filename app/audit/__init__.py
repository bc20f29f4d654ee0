"""Who did what: the records that are kept, shown and pruned."""
