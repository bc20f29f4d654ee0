"""Requests generated from the OpenAPI document, for every documented route.

Schemathesis sends valid and invalid requests; status, content type, headers and body of each
response must match the document. `test_malformed_requests.py` does not use the document: it sends
malformed requests to all routes and checks only that no response is a 5xx.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.backends import missing

# Examples for each operation and mode; more examples found no more errors.
EXAMPLES = 5

pytestmark = [
    pytest.mark.parametrize("backend", ["sqlite"], indirect=True),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(
        CORE__LOG_LEVEL="ERROR",
        CORE__EMAILS_ENABLED="false",
        AUTH__RATE_LIMITS_ENABLED="false",
        AUTH__MFA="optional",
        AUTH__LOGIN_BY_CODE="on",
        WORKSPACES__INVITATIONS_PER_HOUR="1000000",
        WORKSPACES__CREATED_PER_DAY="1000000",
        WORKSPACES__CREATED_LIMIT="1000000",
    )
    # As on a server, unexpected exceptions become a 500, which the tests detect.
    app.testing = False
    return app


@pytest.fixture
def olga(person: MakePerson) -> Person:
    return person("olga", role="root")


def document_of(app: Flask) -> Any:
    # Imported only in this file, since the import takes seconds.
    try:
        import schemathesis.openapi
    except ModuleNotFoundError:
        missing("schemathesis is not installed")
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)


def find_errors(case: Any, response: Any) -> list[str]:
    """Return the differences between a response and the document."""
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as documented

    if response.status_code == 404 and response.json().get("code") == "not_found":
        # The path matched no route, for example because of a word instead of an id.
        return []
    asked = [
        checks.not_a_server_error,
        documented.status_code_conformance,
        documented.content_type_conformance,
        documented.response_headers_conformance,
        documented.response_schema_conformance,
        documented.negative_data_rejection,
    ]
    try:
        case.validate_response(response, checks=asked)
    except (AssertionError, BaseExceptionGroup) as failure:
        every = getattr(failure, "exceptions", [failure])
        return [f"{case.operation.label}, {response.status_code}: {each}" for each in every]
    return []


def operations(app: Flask) -> list[Any]:
    return [result.ok() for result in document_of(app).get_all_operations()]


def send_to(operation: Any, mode: str, token: Callable[[], str]) -> tuple[int, set[str]]:
    """Send requests; return their number and the errors in the responses."""
    from schemathesis import GenerationMode

    sent: list[str] = []

    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Any) -> None:
        response = case.call(headers={"Authorization": f"Bearer {token()}"})
        sent.append("\n".join(find_errors(case, response)))

    try:
        send()
    except Unsatisfiable:
        # The operation accepts every input.
        assert mode == "negative", operation.label
    return len(sent), set(sent) - {""}


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_every_route_responds_as_documented(app: Flask, olga: Person, mode: str) -> None:
    *others, logout = sorted(operations(app), key=lambda each: each.path.endswith("/logout"))
    token = olga.token()
    outcomes = [send_to(operation, mode, lambda: token) for operation in others]
    # The token is still valid: otherwise all requests would have been rejected early.
    Api(app, token=token).get("/account")
    outcomes.append(send_to(logout, mode, olga.token))
    assert set().union(*(errors for _, errors in outcomes)) == set()
    assert sum(sent for sent, _ in outcomes) > 200


def test_requests_are_sent_to_every_documented_route(app: Flask) -> None:
    document = Api(app).get("/openapi.json").json
    documented = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert {operation.label for operation in operations(app)} == documented


def test_undocumented_responses_are_found(app: Flask, olga: Person) -> None:
    """Proves that the checks above can fail."""
    view = app.view_functions["health.health"]

    @wraps(view)
    def respond_wrongly() -> Any:
        answer: Any = app.make_response(view())  # type: ignore[arg-type]
        answer.set_data(b'{"status": 7}')
        return answer

    app.view_functions["health.health"] = respond_wrongly
    [health] = [each for each in operations(app) if each.label == "GET /api/v1/health"]
    case = health.Case()
    assert any("7 is not of type" in text for text in find_errors(case, case.call()))
