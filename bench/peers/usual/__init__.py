"""The way most Flask services of this kind are written."""
