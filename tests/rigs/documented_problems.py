"""Checks that responses are documented in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask, Response, request

from app.core.errors import Problem
from app.core.web.openapi.responses import documented
from app.core.web.operation import find_operation


def note_undocumented_problems(app: Flask) -> set[str]:
    """Return the set that collects each problem code that a route returns but does not document."""
    found: set[str] = set()
    # Internal errors are not documented; an application documents its own errors.
    kinds = (kind for kind in subclasses(Problem) if kind.__module__.startswith("app."))
    frontdesk_codes = {kind.code for kind in kinds}

    @app.after_request
    def compare(response: Response) -> Response:
        if response.mimetype == "application/problem+json" and request.url_rule is not None:
            route_operation = find_operation(app.view_functions[request.url_rule.endpoint])
            code = response.get_json()["code"]
            is_page = request.blueprint in app.extensions["frontdesk"].mounted.pages
            is_documented = route_operation and not (route_operation.hidden or is_page)
            if route_operation and is_documented and code in frontdesk_codes:
                documented_problems = documented(
                    route_operation, request.method, request.url_rule
                ).values()
                codes = {kind.code for kinds in documented_problems for kind in kinds}
                if code not in codes:
                    found.add(f"{request.method} {request.url_rule.rule}: {code}")
        return response

    return found


def subclasses(kind: type[Problem]) -> Iterator[type[Problem]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)
