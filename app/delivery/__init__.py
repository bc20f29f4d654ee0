"""Delivery of messages by email, SMS and other channels."""
