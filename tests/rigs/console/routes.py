"""The console's routes and the users who may open them, from the console's table of routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flask import Flask
from werkzeug.routing import Rule

from app.console.blueprint import lazy_view
from app.console.routes import FORM, PAGE, ROUTES
from app.core.web.operation import Operation, View, find_operation

# The person who opens a page, by its authorization decorator; the owner for all other decorators.
_WHO = {
    "anyone": "visitor",
    "account_optional": "visitor",
    "workspace_anonymous": "visitor",
    "roles_required": "admin",
    "superuser_required": "root",
}


class Route(NamedTuple):
    method: str
    path: str
    # Name of the view and the endpoint.
    name: str
    reference: str

    @property
    def record(self) -> Operation:
        found = find_operation(lazy_view(self.reference).view)
        assert found is not None, f"{self.reference} has no authorization decorator"
        return found

    @property
    def calls(self) -> View | None:
        return self.record.calls

    @property
    def undecorated(self) -> View:
        """Return the form without `console_form`."""
        found: View = lazy_view(self.reference).view.__wrapped__  # type: ignore[attr-defined]
        return found

    @property
    def api_view(self) -> View:
        """Return the view of the API that the form calls."""
        found = self.calls
        assert found is not None, f"{self.reference} calls no view of the API"
        return found

    @property
    def who(self) -> str:
        return _WHO.get(self.record.guard or "", "owner")

    @property
    def endpoint(self) -> str:
        return f"console.{self.name}"


def page_routes() -> list[Route]:
    return [route for route in _routes() if route.method == PAGE]


def form_routes() -> list[Route]:
    return [route for route in _routes() if route.method == FORM]


def _routes() -> Iterator[Route]:
    for method, path, reference in ROUTES:
        yield Route(method, path, reference.rpartition(".")[2], reference)


def rules_of(app: Flask, method: str) -> list[Rule]:
    """Return the console's rules of the application."""
    return [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("console.") and method in (rule.methods or ())
    ]
