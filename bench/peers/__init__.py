"""The same two routes in other frameworks; each peer runs in a separate environment."""
