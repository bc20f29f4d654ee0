"""Metrics for Prometheus, and traces for OpenTelemetry.

Nothing here is imported unless a setting enables it.
"""
