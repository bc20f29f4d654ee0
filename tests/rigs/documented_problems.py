"""Checks that responses are documented in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask, Response, request

from app.core.errors import Problem
from app.core.web.openapi.failures import documented
from app.core.web.operation import find_operation


def note_undocumented_problems(app: Flask) -> set[str]:
    """Every problem that a route answers with and that its part of the document does not name."""
    found: set[str] = set()
    # Of what nobody expects no document tells; what a host raises is the host's to document.
    kinds = (kind for kind in subclasses(Problem) if kind.__module__.startswith("app."))
    ours = {kind.code for kind in kinds}

    @app.after_request
    def compare(response: Response) -> Response:
        if response.mimetype == "application/problem+json" and request.url_rule is not None:
            described = find_operation(app.view_functions[request.url_rule.endpoint])
            code = response.get_json()["code"]
            if described and not described.hidden and code in ours:
                promised = documented(described, request.method, request.url_rule).values()
                codes = {kind.code for kinds in promised for kind in kinds}
                if code not in codes:
                    found.add(f"{request.method} {request.url_rule.rule}: {code}")
        return response

    return found


def subclasses(kind: type[Problem]) -> Iterator[type[Problem]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)
