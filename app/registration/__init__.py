"""Making an account of one's own, and proving its address."""
