"""`@frontdesk.authenticate`: which credential decides, and what the hook returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask, Request
from werkzeug.local import LocalProxy

from app import Authenticated, Frontdesk, Problem, SetupError
from app.accounts.account import Account
from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.database import noted_queries
from app.testing.people import Person, make_person

from ..rigs.cases import for_each
from ..rigs.cookie_browsers import CookieBrowser
from ..rigs.hook_hosts import as_user, hook_host, read_header
from ..rigs.hosts import HostSettings, plain_app


@pytest.fixture
def app() -> Flask:
    return hook_host()


@pytest.fixture
def ada(app: Flask) -> Person:
    return make_person(app, "ada", prefix="/api")


def id_at(app: Flask, path: str, **headers: str) -> Any:
    return Api(app, "").get(path, headers=headers).json["id"]


def test_decorators_routes_and_the_inbox_accept_the_credential(app: Flask, ada: Person) -> None:
    headers = as_user(ada)
    for path in ("/async", "/optional", "/api/account"):
        assert id_at(app, path, **headers) == ada.id
    assert Api(app, "/api").get("/notifications/", headers=headers).json == []


def test_request_without_the_credential_is_anonymous(app: Flask) -> None:
    assert Api(app, "").get("/async", 401).json["reason"] == "missing"
    assert id_at(app, "/optional") is None


def test_status_and_role_are_read_with_every_request_by_one_query(app: Flask, ada: Person) -> None:
    headers, api = as_user(ada), Api(app, "")
    id_at(app, "/async", **headers)
    with noted_queries(app) as queries:
        id_at(app, "/async", **headers)
    assert len(queries) == 1
    assert api.get("/root", 403, headers=headers).json["code"] == "not_authorized"
    ada.change(role="root")
    api.get("/root", headers=headers)
    ada.change(status="suspended")
    assert api.get("/async", 401, headers=headers).json["code"] == "account_inactive"
    assert id_at(app, "/optional", **headers) == ada.id


RESULTS: dict[str, Callable[[Account], Any]] = {
    "the account": lambda account: account,
    "its id": lambda account: account.id,
    "its id as text": lambda account: str(account.id),
    "a proxy, as Flask-Login's current_user": lambda account: LocalProxy(lambda: account),
    "the account with properties": Authenticated,
    "the id with properties": lambda account: Authenticated(account.id, csrf_safe=True),
}


@for_each("name", RESULTS)
def test_hook_returns_the_account_or_its_id(name: str) -> None:
    app = hook_host(lambda _: RESULTS[name](current_frontdesk.session.get_one(Account, 1)))
    ada = make_person(app, "ada")
    assert id_at(app, "/async") == ada.id


UNKNOWN = [7, "7", 0, -1, 2**70, "x", "", " 1", "1\n", "\u0661", uuid4(), Authenticated(None)]


@for_each("given", UNKNOWN)
def test_unknown_account_is_rejected_also_where_the_caller_is_optional(given: object) -> None:
    app = hook_host(lambda _: given)
    make_person(app, "ada")
    for path in ("/async", "/optional", "/api/account"):
        assert Api(app, "").get(path, 401).json["code"] == "invalid_credentials"


@for_each("given", [True, False, 1.0, b"1", object(), [1], Authenticated(account=True)])
def test_result_of_another_type_is_an_error_of_the_application(given: object) -> None:
    app = hook_host(lambda _: given)
    app.testing = True
    make_person(app, "ada")
    with pytest.raises(TypeError, match="must return an account, the id of one, or None, not"):
        app.test_client().get("/async")


def test_time_of_the_sign_in_must_be_a_datetime() -> None:
    seconds: Any = 1_893_456_000
    app = hook_host(lambda _: Authenticated(1, authenticated_at=seconds))
    app.testing = True
    with pytest.raises(TypeError, match="takes authenticated_at as a datetime or None, not as int"):
        app.test_client().get("/async")


def test_bearer_token_valid_or_not_decides_before_the_hook(app: Flask, ada: Person) -> None:
    grace = make_person(app, "grace", prefix="/api")
    assert id_at(app, "/async", **as_user(grace), Authorization=f"Bearer {ada.token()}") == ada.id
    for header in ("Bearer", "Bearer ", "bearer a.b.c", "BEARER x", " Bearer x", "Bearer\ta.b.c"):
        sent = as_user(ada, Authorization=header)
        for path in ("/async", "/optional"):
            assert Api(app, "").get(path, 401, headers=sent).json["code"] == "invalid_credentials"


def test_header_of_another_scheme_is_left_to_the_hook(app: Flask, ada: Person) -> None:
    for header in ("Basic YTpi", "Negotiate x", ""):
        assert id_at(app, "/async", **as_user(ada, Authorization=header)) == ada.id
        # A header that the hook does not accept is rejected, as without a hook.
        for path in ("/async", "/optional"):
            refused = Api(app, "").get(path, 401, headers={"Authorization": header})
            assert refused.json["reason"] == "malformed"


def test_hook_decides_before_the_session_cookie() -> None:
    app = hook_host(COOKIE_SESSIONS="on")
    ada, grace = make_person(app, "ada"), make_person(app, "grace")
    browser = CookieBrowser(app, "/api")
    browser.sign_in(grace)
    assert browser.get("/account", headers=as_user(ada)).json["id"] == ada.id
    assert browser.get("/account").json["id"] == grace.id
    # An unknown account is not replaced by the cookie's.
    browser.get("/account", 401, headers={"X-User": "99"})


class Closed(Problem):
    status = 451
    code = "closed"
    detail = "Closed"


def test_hook_is_called_once_for_each_request() -> None:
    calls: list[str] = []

    def count(request: Request) -> Any:
        calls.append(request.path)
        if "closed" in request.args:
            raise Closed
        return read_header(request)

    app = hook_host(count, COOKIE_SESSIONS="alone")
    ada, client = make_person(app, "ada"), app.test_client()
    for path in ("/async", "/optional", "/api/account", "/desk/dashboard"):
        assert client.get(path, headers=as_user(ada)).status_code == 200
    # The page of an error looks for the caller again.
    assert client.get("/desk/dashboard?closed").status_code == 451
    assert client.get("/api/health").status_code == 200
    assert calls == ["/async", "/optional", "/api/account", "/desk/dashboard", "/desk/dashboard"]


def test_problem_of_the_hook_is_the_response() -> None:
    def refuse(_: Request) -> Any:
        raise Closed

    app = hook_host(refuse)
    for path in ("/async", "/optional", "/api/account"):
        assert Api(app, "").get(path, 451).json["code"] == "closed"


def test_another_exception_is_a_logged_server_error(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Request) -> Any:
        raise KeyError("user")

    app = hook_host(fail)
    assert Api(app, "").get("/api/account", 500).json["code"] == "internal_error"
    assert "KeyError" in caplog.text
    assert app.test_client().get("/async").status_code == 500


def test_hook_can_look_for_the_caller_itself() -> None:
    """Flask-Login's `current_user` calls a loader, which may call `account_of`."""
    app = hook_host(lambda request: Frontdesk[Any]().account_of(request))
    ada = make_person(app, "ada", prefix="/api")
    assert Api(app, "").get("/async", 401).json["reason"] == "missing"
    assert id_at(app, "/async", Authorization=f"Bearer {ada.token()}") == ada.id
    Api(app, "").get("/async", 401, headers={"Authorization": "Basic YTpi"})


def test_test_of_an_application_signs_in_with_a_header() -> None:
    frontdesk: Frontdesk[Any] = Frontdesk()

    # [conftest]
    @frontdesk.authenticate
    def sign_in_as(request: Request) -> Authenticated | None:
        account_id = request.headers.get("X-Test-Account")
        return Authenticated(account_id, csrf_safe=True) if account_id else None

    # [end]
    host, db = plain_app()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account)
    frontdesk.mount(host, only=["auth"])
    with host.app_context():
        db.create_all()
    ada = make_person(host, "ada")
    sent = {"X-Test-Account": str(ada.id)}
    assert Api(host, "").patch("/account", headers=sent, json={}).json["id"] == ada.id
    Api(host, "").get("/account", 401)


def test_hook_is_registered_once_and_before_init_app() -> None:
    frontdesk: Frontdesk[Any] = Frontdesk()
    frontdesk.authenticate(read_header)
    with pytest.raises(SetupError, match="takes one function, and is used a second time"):
        frontdesk.add_hook("authenticate", read_header)
    late: Frontdesk[Any] = Frontdesk()
    host, db = plain_app()
    late.init_app(host, db, settings=HostSettings(), account_model=Account)
    with pytest.raises(SetupError, match=r"after frontdesk.init_app.*register the function before"):
        late.authenticate(read_header)


def test_document_names_the_rejection_of_other_sites(app: Flask) -> None:
    described = Api(app, "/api").get("/openapi.json").json
    assert described["paths"]["/api/account"]["patch"]["responses"]["403"]["description"] == (
        "This request comes from another site"
    )
    assert "403" not in described["paths"]["/api/account"]["get"]["responses"]
    assert described["components"]["securitySchemes"].keys() == {"bearer", "login"}
