"""The service on the wire: what gunicorn does between a client and the application."""
