from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from marshmallow import INCLUDE
from marshmallow.fields import Nested
from sqlalchemy import delete
from werkzeug import exceptions

from app.auth.errors import TooManyAttempts
from app.core.errors import Invalid, Problem, TooManyRequests, Unauthorized
from app.core.web.fields import RequestSchema, StrictInteger
from app.core.web.problems import handle_http_exception, problem_response
from app.core.web.request_data import takes
from app.exports.schemas import TooManyExports
from app.tasks.models import Task
from app.tasks.service import Tasks
from app.testing.client import Answer, Api
from scripts.error_codes import kinds

from ..conftest import Backend, MakeApp, MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.hosts import make_host

JSON = {"Content-Type": "application/json"}


def assert_problem(answer: Answer, status: int, code: str) -> None:
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json
    assert set(body) - {"errors"} == {"type", "title", "status", "detail", "code"}
    assert (body["status"], body["code"]) == (status, code)


def send(api: Api, status: int, body: bytes | str, **headers: str) -> Answer:
    return api.post("/tasks/", status, data=body, headers={**JSON, **headers})


def test_unknown_route_is_a_404(api: Api) -> None:
    assert_problem(api.get("/nowhere", 404), 404, "not_found")


def test_wrong_method_is_a_405_with_allow(api: Api) -> None:
    answer = api.put("/tasks/1", 405)
    assert_problem(answer, 405, "method_not_allowed")
    assert set(answer.headers["Allow"].split(", ")) >= {"GET", "PATCH", "DELETE"}


@for_each("path", ["/tasks", "/workspaces", "/notifications", "/garden/profiles"])
def test_wrong_method_on_a_collection_without_slash_is_a_405(api: Api, path: str) -> None:
    answer = api.send("PATCH", path, 405)
    assert_problem(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


@for_each("method", ["PROPFIND", "X" * 100])
def test_unknown_method_is_a_405(api: Api, method: str) -> None:
    answer = Api(api.app, "").send(method, "/api/v1/health", 405)
    assert_problem(answer, 405, "method_not_allowed")


def test_body_above_one_mebibyte_is_a_413(api: Api) -> None:
    body = '{"title": "' + "x" * 1024 * 1024 + '"}'
    assert_problem(send(api, 413, body), 413, "too_large")


@for_each(
    "body",
    [
        b"{",
        b"{'title': 1}",
        b'{"title": NaN}',
        b'{"title": Infinity}',
        b'{"title": "x", "n": 1e999}',
        b'{"title": "\\ud800"}',
        b'{"title": "\xff"}',
        b'\xef\xbb\xbf{"title": "x"}',
        '{"title": "x"}'.encode("utf-16"),
        '{"title": "x"}'.encode("utf-16-le"),
        '{"title": "x"}'.encode("utf-32"),
        b'{"title": "x"} trailing',
        b"\0",
    ],
)
def test_invalid_json_is_a_400(api: Api, body: bytes) -> None:
    assert_problem(send(api, 400, body), 400, "malformed_json")
    assert api.get("/tasks/").json == []


def test_json_is_limited_to_64_levels(api: Api) -> None:
    def nested(levels: int) -> str:
        return '{"title": "x", "more": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"

    send(api, 201, nested(64))
    assert_problem(send(api, 400, nested(65)), 400, "malformed_json")
    assert_problem(send(api, 400, "[" * 100_000), 400, "malformed_json")


def test_brackets_in_a_string_do_not_count_as_nesting(api: Api) -> None:
    send(api, 201, '{"title": "\\"' + "[{" * 90 + '"}')


@for_each("body", ["[]", '"text"', "1", "null", "true", "[[]]"])
def test_json_must_be_an_object(api: Api, body: str) -> None:
    assert_problem(send(api, 422, body), 422, "validation_error")


@for_each("kind", ["text/plain", "application/xml", "multipart/form-data", "x"])
def test_unsupported_content_type_is_a_415(api: Api, kind: str) -> None:
    answer = api.post("/tasks/", 415, data='{"title": "x"}', headers={"Content-Type": kind})
    assert_problem(answer, 415, "unsupported_media_type")


@for_each("kind", ["application/json; charset=utf-8", "application/merge-patch+json"])
def test_json_content_types_are_accepted(api: Api, kind: str) -> None:
    api.post("/tasks/", 201, data='{"title": "x"}', headers={"Content-Type": kind})


def test_empty_body_lacks_required_fields(api: Api) -> None:
    answer = api.post("/tasks/", 422)
    assert_problem(answer, 422, "validation_error")
    assert answer.detail == "Validation error"
    assert answer.json["errors"] == [
        {
            "location": "json",
            "field": "title",
            "message": "Missing data for required field.",
            "code": "required",
            "params": {},
        }
    ]


@pytest.mark.parametrize("kind", ["application/json", ""])
def test_missing_body_is_not_an_empty_object(api: Api, kind: str) -> None:
    api.post("/tasks/", 201, json={"title": "Water the plants"})
    for body in (b"", b" \n"):
        answer = api.patch("/tasks/1", 422, data=body, content_type=kind)
        assert answer.faults == ["json:"]
    assert api.patch("/tasks/1", json={}).json["title"] == "Water the plants"


def test_missing_body_changes_no_profile(ada: Person) -> None:
    assert ada.api().put("/profiles", 422).faults == ["json:"]


BLANKS = ["   ", "\t\n", "\u00a0\u2003", "\u200b\u200d", "\u2028", "\ufeff"]


@for_each("blanks", BLANKS)
def test_required_texts_must_not_be_blank(person: MakePerson, blanks: str) -> None:
    api = person(new_name("root"), role="root").api()
    ada = {"first_name": "Ada", "last_name": blanks, "date_of_birth": "1815-12-10"}
    mail = {"title": blanks, "message": blanks, "channels": ["inapp"]}
    assert api.post("/tasks/", 422, json={"title": blanks}).faults == ["json:title"]
    assert api.post("/workspaces", 422, json={"name": blanks}).faults == ["json:name"]
    assert "json:last_name" in api.post("/profiles", 422, json=ada).faults
    sent = api.post("/admin/notifications/", 422, json={"data": mail})
    assert {"json:data.title", "json:data.message"} <= set(sent.faults)
    assert api.get("/admin/notifications/all").json == []


@for_each("title", ["🎉", "東京", " .", "\u2800?"])
def test_short_titles_are_accepted(api: Api, title: str) -> None:
    api.post("/tasks/", 201, json={"title": title})


def test_errors_of_all_locations_are_returned_together(api: Api) -> None:
    body: dict[str, Any] = {"title": "", "done": "maybe"}
    answer = api.post("/tasks/", 422, json=body, headers={"X-Owner": "o" * 256})
    assert answer.faults == ["headers:X-Owner", "json:title", "json:done"]


def test_repeated_parameter_is_rejected(api: Api) -> None:
    assert api.get("/tasks/?limit=1&limit=2", 422).faults == ["query:limit"]


def test_unexpected_error_reveals_nothing(make_app: MakeApp) -> None:
    app = make_app()
    # As on a server: in testing mode the exception would propagate.
    app.testing = False

    @app.get("/fail")
    def fail() -> str:
        raise RuntimeError("the password is hunter2")

    answer = Api(app, "").get("/fail", 500)
    assert_problem(answer, 500, "internal_error")
    assert "hunter2" not in answer.response.text
    assert "RuntimeError" not in answer.response.text


def test_concurrently_deleted_row_is_a_conflict(make_app: MakeApp) -> None:
    app = make_app()
    db = app.extensions["sqlalchemy"]

    @app.get("/late")
    def late() -> str:
        db.session().expire_on_commit = False
        task = db.session.get_one(Task, 1)
        db.session.commit()
        with db.engine.begin() as other_connection:
            other_connection.execute(delete(Task))
        task.title = "changed too late"
        db.session.commit()
        return "changed"

    api = Api(app)
    api.post("/tasks/", 201, json={"title": "x"})
    assert_problem(Api(app, "").get("/late", 409), 409, "conflict")


def test_missing_table_is_a_server_error_that_reveals_nothing(app: Flask, api: Api) -> None:
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
        with engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE frontdesk_tasks RENAME TO lost")
    try:
        assert_problem(api.get("/tasks/", 500), 500, "internal_error")
    finally:
        with app.app_context(), engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE lost RENAME TO frontdesk_tasks")


def test_401_names_the_scheme(app: Flask) -> None:
    with app.app_context():
        assert problem_response(Unauthorized()).headers["WWW-Authenticate"] == "Bearer"


def rate_limits() -> list[type[Problem]]:
    return [kind for found in kinds().values() for kind in found if kind.status == 429]


def test_every_429_has_retry_after_in_header_and_body(app: Flask) -> None:
    assert {TooManyRequests, TooManyAttempts, TooManyExports} <= set(rate_limits())
    for kind in rate_limits():
        assert issubclass(kind, TooManyRequests)
        with app.app_context():
            for seconds, sent in ((7, 7), (0, 1)):
                answer = problem_response(kind(seconds))
                assert answer.headers["Retry-After"] == str(sent)
                assert answer.get_json(force=True)["retry_after"] == sent


@for_each(
    ("seconds", "text"), [(1, "1 second"), (61, "2 minutes"), (299, "5 minutes"), (3601, "2 hours")]
)
def test_too_many_attempts_says_when_to_try_again(seconds: int, text: str) -> None:
    assert TooManyAttempts(seconds).detail == f"Too many attempts. Try again in {text}."


def test_too_many_attempts_of_an_application_keeps_its_detail() -> None:
    class TooManyCalls(TooManyAttempts):
        detail = "Too many calls"

    assert TooManyCalls(7).detail == "Too many calls"


def test_429_of_another_extension_has_retry_after_if_it_is_a_number(app: Flask) -> None:
    date = datetime(2030, 1, 1, tzinfo=UTC)
    for wait, expected in ((9, 9), (date, None), (None, None)):
        with app.test_request_context():
            answer = handle_http_exception(exceptions.TooManyRequests(retry_after=wait))
        assert answer.get_json(force=True).get("retry_after") == expected


def test_every_problem_has_a_status_a_code_and_a_text() -> None:
    kinds = [Problem]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    for kind in kinds[1:]:
        assert 400 <= kind.status < 600, kind
        assert kind.code.replace("_", "").isalpha(), kind
        assert kind.detail, kind


@pytest.fixture
def host(backend: Backend) -> Flask:
    return make_host(backend.database_url)


def test_frontdesk_routes_return_problem_documents_in_an_application(host: Flask) -> None:
    api = Api(host, "/desk")
    assert_problem(api.get("/tasks/1", 404), 404, "task_not_found")
    assert_problem(api.post("/tasks/", 422, json={}), 422, "validation_error")
    assert_problem(api.post("/tasks/", 400, data="{", headers=JSON), 400, "malformed_json")
    assert_problem(api.put("/tasks/1", 405), 405, "method_not_allowed")
    large = "x" * 1024 * 1025
    assert_problem(api.post("/tasks/", 413, data=large, headers=JSON), 413, "too_large")
    assert api.get("/health").json["project"] == "Host"


def test_unexpected_error_reveals_nothing_in_an_application(
    host: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr(Tasks, "page", broken)
    answer = Api(host, "/desk").get("/tasks/", 500)
    assert_problem(answer, 500, "internal_error")
    assert "hunter2" not in answer.response.text


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/nowhere", 404, "host: not found"),
        ("POST", "/own", 405, "host: wrong method"),
        ("POST", "/slashed/", 405, "host: wrong method"),
        ("POST", "/slashed", 404, "host: not found"),
        ("GET", "/own", 500, "host: broken"),
    ],
)
def test_error_handlers_of_an_application_are_unchanged(
    host: Flask, method: str, path: str, status: int, text: str
) -> None:
    answer = Api(host, "").send(method, path, status)
    assert answer.response.text == text
    assert "X-Request-ID" not in answer.headers
    assert "X-Frame-Options" not in answer.headers


@for_each(("size", "status"), [(1024 * 1024, 201), (1024 * 1024 + 1, 413)])
def test_body_limit_is_exact(api: Api, size: int, status: int) -> None:
    body = '{"title": "x"'
    send(api, status, body + " " * (size - len(body) - 1) + "}")


class Filter(RequestSchema):
    until = StrictInteger()


class Wish(RequestSchema):
    class Meta:
        unknown = INCLUDE

    titles = Nested(RequestSchema, data_key="names")


@pytest.mark.parametrize(
    ("field", "location"),
    [
        ("until", "query:until"),
        ("names.0", "json:names.0"),
        ("colour", "json:colour"),
        ("", "json:"),
    ],
)
def test_error_of_a_service_names_the_location_of_the_field(
    api: Api, field: str, location: str
) -> None:
    @takes(json=Wish, query=Filter)
    def view(**_sent: Any) -> str:
        raise Invalid.about(field, "Not this one.")

    api.app.add_url_rule("/api/v1/wishes", view_func=view, methods=["POST"])
    assert api.post("/wishes", 422, json={}).faults == [location]
