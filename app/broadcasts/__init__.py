"""What admins do around notifications: drafts, segments, sending, counts and results."""
