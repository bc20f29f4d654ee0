"""Checks of a set-up for misconfigurations."""
