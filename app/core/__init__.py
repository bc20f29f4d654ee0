"""The ground floor: what every slice stands on, and which knows none of them."""
