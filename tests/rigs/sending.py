"""Requests without a test client, for tests that send thousands of them."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask.testing import EnvironBuilder
from werkzeug.test import TestResponse, run_wsgi_app

_ENVIRONMENT = {"REMOTE_ADDR": "127.0.0.1"}


def send(app: Flask, path: str, **request: Any) -> TestResponse:
    """Send a request: a test client would create a class and parse the URL twice more to look for
    stored cookies."""
    builder = EnvironBuilder(app, path, environ_base=_ENVIRONMENT, **request)
    try:
        request_sent = builder.get_request()
    finally:
        builder.close()
    return TestResponse(*run_wsgi_app(app, request_sent.environ), request_sent)
