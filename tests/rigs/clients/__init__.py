"""Generators of clients, and a day's journey with what they have made."""
