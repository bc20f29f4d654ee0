"""The same two routes with other libraries; each peer runs in its own environment."""
