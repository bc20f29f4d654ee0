"""One request of thousands: as by a test client, without what it does beside that."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask.testing import EnvironBuilder
from werkzeug.test import TestResponse, run_wsgi_app

_CALLER = {"REMOTE_ADDR": "127.0.0.1"}


def send(app: Flask, path: str, **request: Any) -> TestResponse:
    """A client is a new class each time, and takes a long URL apart twice more for its cookies,
    of which there are none here but those that the request names."""
    builder = EnvironBuilder(app, path, environ_base=_CALLER, **request)
    try:
        asked = builder.get_request()
    finally:
        builder.close()
    return TestResponse(*run_wsgi_app(app, asked.environ), asked)
