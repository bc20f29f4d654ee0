"""A soak test: every server of a deployment twice or more, killed one by one under mixed load."""
