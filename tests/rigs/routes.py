"""The routes of an application, for tests that request each route."""

from __future__ import annotations

from flask import Flask
from werkzeug.routing import Rule


def api_rules(app: Flask) -> list[Rule]:
    """Return the API's routes, without the console's pages."""
    return [rule for rule in app.url_map.iter_rules() if not rule.endpoint.startswith("console.")]
