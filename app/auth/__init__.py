"""Authentication: logging in and out, recovering a password, and the guards of routes."""
