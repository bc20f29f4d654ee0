"""What all feature packages use. It imports none of them."""
