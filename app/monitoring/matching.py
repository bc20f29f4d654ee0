"""What a request is called in metrics and traces."""

from __future__ import annotations

from flask import request


def matched_route() -> str:
    """A path that is no route is the client's invention, and would be a label of its own."""
    return request.url_rule.rule if request.url_rule else "unmatched"
