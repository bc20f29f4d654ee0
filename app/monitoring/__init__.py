"""What an operator's instruments read: metrics for Prometheus, traces for OpenTelemetry.

Nothing here is imported unless a setting asks for it.
"""
