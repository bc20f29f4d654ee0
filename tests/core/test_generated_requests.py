"""Requests drawn from the service's own document, against every route in it.

Schemathesis reads what each route takes and answers, and sends what fits and what does not; the
answer's status, type, headers and body must be what the document says. `test_nonsense.py` stands
beside it and knows no document: it sends what no schema would think of, to routes that are not
documented too, and looks for 5xx alone. Whatever is documented is in here by that.
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

# For each operation and each of the two ways; more find no more, and take their time.
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
    # As a server has it: an unexpected exception becomes a 500, and is found below.
    app.testing = False
    return app


@pytest.fixture
def olga(person: MakePerson) -> Person:
    return person("olga", role="root")


def document_of(app: Flask) -> Any:
    # Loaded for this one file alone: it takes seconds.
    try:
        import schemathesis.openapi
    except ModuleNotFoundError:
        missing("schemathesis is not installed")
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)


def found_wrong(case: Any, response: Any) -> list[str]:
    """How an answer differs from what the document says of it."""
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as documented

    if response.status_code == 404 and response.json().get("code") == "not_found":
        # A path that is no route, such as one with a word for an id: no operation has answered.
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


def send_to(operation: Any, way: str, token: Callable[[], str]) -> tuple[int, set[str]]:
    """How many requests were sent, and what was wrong with their answers."""
    from schemathesis import GenerationMode

    sent: list[str] = []

    @given(case=operation.as_strategy(generation_mode=GenerationMode(way)))
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
        sent.append("\n".join(found_wrong(case, response)))

    try:
        send()
    except Unsatisfiable:
        # Nothing that is sent to it can be wrong.
        assert way == "negative", operation.label
    return len(sent), set(sent) - {""}


@pytest.mark.parametrize("way", ["positive", "negative"])
def test_every_documented_route_answers_as_documented(app: Flask, olga: Person, way: str) -> None:
    *others, logout = sorted(operations(app), key=lambda each: each.path.endswith("/logout"))
    token = olga.token()
    outcomes = [send_to(operation, way, lambda: token) for operation in others]
    # Had the token ended on the way, every guard would have stopped the requests early.
    Api(app, token=token).get("/account")
    outcomes.append(send_to(logout, way, olga.token))
    assert set().union(*(wrong for _, wrong in outcomes)) == set()
    assert sum(sent for sent, _ in outcomes) > 200


def test_the_run_takes_in_every_route_of_the_document(app: Flask) -> None:
    document = Api(app).get("/openapi.json").json
    written = {
        f"{method.upper()} {path}" for path, ways in document["paths"].items() for method in ways
    }
    assert {operation.label for operation in operations(app)} == written


def test_an_answer_that_is_not_as_documented_is_found(app: Flask, olga: Person) -> None:
    """That the run above finds nothing says something only if it could."""
    view = app.view_functions["health.health"]

    @wraps(view)
    def lying() -> Any:
        answer: Any = app.make_response(view())  # type: ignore[arg-type]
        answer.set_data(b'{"status": 7}')
        return answer

    app.view_functions["health.health"] = lying
    [health] = [each for each in operations(app) if each.label == "GET /api/v1/health"]
    case = health.Case()
    assert any("7 is not of type" in text for text in found_wrong(case, case.call()))
