"""Metrics for Prometheus and traces for OpenTelemetry, imported only if a setting enables them."""
