"""What a caller with the credential of an application can do: changes, step-up, sign-out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from flask import Flask, Request

from app import Authenticated
from app.core.web.operation import SAFE_METHODS, Operation, find_operation
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person
from scripts import http_api

from ..core.test_access_matrix import make_olga, rows
from ..rigs.cases import for_each
from ..rigs.cookie_browsers import SAME_ORIGIN, CookieBrowser
from ..rigs.hook_hosts import EVIL, HEADER, as_user, hook_host, read_header

# Of the page of another site, of another host of this site, and of a program.
FORGED: list[dict[str, str]] = [EVIL, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}, {}]


def test_forged_request_is_refused_on_every_unsafe_route() -> None:
    """Each route of the service, the console and the application that looks for the caller."""
    asked: list[str] = []

    def read(request: Request) -> Any:
        asked.append(request.path)
        return read_header(request)

    app = hook_host(read, **http_api.AUTH_ON)
    root = make_olga(lambda name, **more: make_person(app, name, prefix="/api", **more))
    before, refused = rows(app), 0
    for method, path, described in unsafe_routes(app):
        body = described.examples.get("json") if described else None
        sent: dict[str, Any] = {"data": {"a": "b"}} if body is None else {"json": body}
        asked.clear()
        answer = app.test_client().open(path, method=method, headers=as_user(root, **EVIL), **sent)
        # The other routes are public: they give the credential no effect.
        is_protected = path.startswith("/desk") or (described is not None and described.bearer)
        if asked or is_protected:
            assert (answer.status_code, "another site" in answer.text) == (403, True), path
            refused += 1
    assert refused > 160
    after = rows(app)
    # Public routes, such as a password recovery, write to the audit log.
    assert {name for name in before if after[name] != before[name]} <= {"frontdesk_events"}


def unsafe_routes(app: Flask) -> Iterator[tuple[str, str, Operation | None]]:
    urls = app.url_map.bind("localhost")
    for rule in app.url_map.iter_rules():
        values: dict[str, object] = dict.fromkeys(rule.arguments, 1)
        if "workspace_slug" in values:
            values["workspace_slug"] = "secret"
        for method in sorted((rule.methods or set()) - SAFE_METHODS):
            path = urls.build(rule.endpoint, values, method=method)
            yield method, path, find_operation(app.view_functions[rule.endpoint])


@for_each("headers", FORGED)
def test_changes_are_accepted_only_from_this_site(headers: dict[str, str]) -> None:
    app = hook_host()
    sent = as_user(make_person(app, "ada"))
    for path in ("/async", "/optional"):
        Api(app, "").post(path, headers={**sent, **SAME_ORIGIN})
        Api(app, "").post(path, headers={**sent, "Origin": "https://localhost"})
        refused = Api(app, "").post(path, 403, headers={**sent, **headers})
        assert refused.json["code"] == "cross_site"
        Api(app, "").get(path, headers={**sent, **headers})


@for_each("headers", FORGED)
def test_credential_that_browsers_do_not_send_is_accepted_from_everywhere(
    headers: dict[str, str],
) -> None:
    app = hook_host(lambda request: Authenticated(request.headers[HEADER], csrf_safe=True))
    sent = as_user(make_person(app, "ada"), **headers)
    Api(app, "/api").patch("/account", headers=sent, json={})
    Api(app, "").post("/async", headers=sent)


def test_scopes_limit_the_credential_as_those_of_a_token() -> None:
    def read(request: Request) -> Authenticated:
        return Authenticated(1, csrf_safe=True, scopes=request.headers["X-Scopes"].split())

    app = hook_host(read, COOKIE_SESSIONS="alone")
    root = make_person(app, "ada", role="root")
    api = Api(app, "/api")
    sent = {"X-Scopes": "account:read openid"}
    assert api.get("/account", headers=sent).json["id"] == root.id
    for method, path in (("PATCH", "/account"), ("GET", "/notifications/"), ("DELETE", "/logout")):
        refused = api.send(method, path, 403, headers=sent, json={})
        assert refused.json["code"] == "insufficient_scope"
    for path in ("/async", "/optional", "/desk/dashboard"):
        assert app.test_client().get(path, headers=sent).status_code == 403
    api.get("/account", 403, headers={"X-Scopes": ""})


def test_scopes_are_not_one_string() -> None:
    wrong: Any = "account:read"
    app = hook_host(lambda _: Authenticated(1, scopes=wrong))
    app.testing = True
    with pytest.raises(TypeError, match="as a list, not as a string"):
        app.test_client().get("/async")


def aged(**age: float) -> Flask:
    """Return an application whose hook says that the user signed in before."""

    def read(request: Request) -> Authenticated:
        at = datetime.now(timezone(timedelta(hours=9))) - timedelta(**age)
        return Authenticated(request.headers[HEADER], csrf_safe=True, authenticated_at=at)

    return hook_host(read, COOKIE_SESSIONS="alone", MFA="optional")


def test_recent_sign_in_of_the_application_satisfies_step_up() -> None:
    app = aged(minutes=4)
    sent = as_user(make_person(app, "ada"))
    assert Api(app, "").get("/fresh", headers=sent).response.text == "fresh"
    assert app.test_client().get("/desk/security/factors/app", headers=sent).status_code == 200
    # Only a second factor that Frontdesk has checked counts.
    assert Api(app, "").get("/mfa", 401, headers=sent).json["acr_values"]


def test_time_without_an_offset_is_in_utc() -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    for age, status in ((4, 200), (6, 401)):
        signed_in = Authenticated(1, authenticated_at=now - timedelta(minutes=age))
        app = hook_host(partial(lambda given, _: given, signed_in))
        make_person(app, "ada")
        Api(app, "").get("/fresh", status)


def test_older_sign_in_is_renewed_by_the_application_alone() -> None:
    for app in (aged(minutes=20), hook_host(COOKIE_SESSIONS="on", MFA="optional")):
        sent = as_user(make_person(app, "ada"), **SAME_ORIGIN)
        refused = Api(app, "").get("/fresh", 401, headers=sent).json
        assert (refused["code"], refused["max_age"]) == ("reauthentication_required", 300)
        body = {"password": PASSWORD}
        refused = Api(app, "/api").post("/reauthenticate", 401, headers=sent, json=body).json
        assert refused["code"] == "reauthentication_required"
        # The page is an error: after a form here, the sign-in would be as old as before.
        page = app.test_client().get("/desk/security/factors/app", headers=sent)
        while page.location:
            page = app.test_client().get(page.location, headers=sent)
        assert (page.status_code, "Re-authentication is required" in page.text) == (401, True)


def test_password_in_the_request_replaces_a_recent_sign_in() -> None:
    app = aged(minutes=20)
    sent = as_user(make_person(app, "ada"))
    new = {"current_password": PASSWORD, "new_password": "olive anchor marble"}
    assert Api(app, "/api").put("/account/password", headers=sent, json=new).json["access_token"]


def test_sign_out_ends_only_the_credentials_of_frontdesk() -> None:
    app = hook_host(COOKIE_SESSIONS="on")
    ada = make_person(app, "ada", prefix="/api")
    sent, browser, token = as_user(ada, **SAME_ORIGIN), CookieBrowser(app, "/api"), ada.api()
    browser.sign_in(ada)
    Api(app, "/api").delete("/logout", headers=sent)
    token.get("/account", 401)
    browser.get("/account", 401)
    Api(app, "/api").get("/account", headers=sent)
    ada.change(password="olive anchor marble")
    Api(app, "/api").patch("/account", headers=sent, json={})


def test_sessions_of_the_account_are_listed_and_ended() -> None:
    app = hook_host(SESSIONS="on")
    ada = make_person(app, "ada", prefix="/api")
    sent, api = as_user(ada, **SAME_ORIGIN), Api(app, "/api")
    tokens = [ada.api() for _ in range(3)]
    listed = api.get("/sessions", headers=sent).json
    assert [each["current"] for each in listed] == [False] * 3
    assert api.delete(f"/sessions/{listed[0]['id']}", headers=sent).json["current"] is False
    # No session is the caller's own.
    assert api.delete("/sessions?others=true", headers=sent).json == {"ended": 2}
    for each in tokens:
        each.get("/account", 401)
    api.get("/account", headers=sent)


def test_sign_out_does_not_end_the_cookie_of_another_account() -> None:
    app = hook_host(COOKIE_SESSIONS="on")
    ada, grace = make_person(app, "ada"), make_person(app, "grace")
    browser = CookieBrowser(app, "/api")
    browser.sign_in(grace)
    browser.delete("/logout", headers=as_user(ada))
    assert browser.get("/account").json["id"] == grace.id
