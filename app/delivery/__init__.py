"""A message is a value; a channel sends it."""
