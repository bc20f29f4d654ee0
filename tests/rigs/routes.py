"""The routes of an application, for tests that ask each of them."""

from __future__ import annotations

from flask import Flask
from werkzeug.routing import Rule


def api_rules(app: Flask) -> list[Rule]:
    """Without the console's pages, which answer in their own way."""
    return [rule for rule in app.url_map.iter_rules() if not rule.endpoint.startswith("console.")]
