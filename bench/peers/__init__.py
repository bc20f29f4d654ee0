"""The same two routes as others would write them; each peer runs in an environment of its own."""
