"""Creating, listing and ending personal tokens over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.core.context import current_frontdesk
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.tokens.models import PersonalToken

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.racing import request, run_concurrently
from .conftest import MakeToken, Program

PATH = "/personal-tokens"


def test_token_is_shown_once_and_stored_as_a_digest(app: Flask, ada: Person) -> None:
    api = ada.api()
    body = {"name": " Backup ", "scopes": ["profiles:read", "account:read", "profiles:read"]}
    created = api.post(PATH, 201, json=body).json
    token = created.pop("token")
    expires = datetime.fromisoformat(created["expires_at"])
    assert expires - datetime.fromisoformat(created["created_at"]) == timedelta(days=90)
    assert {**created, "id": 0, "created_at": "", "expires_at": ""} == {
        "id": 0,
        "name": "Backup",
        "prefix": token[:8],
        "scopes": ["profiles:read", "account:read"],
        "workspace": None,
        "created_at": "",
        "expires_at": "",
        "last_used_at": None,
    }
    assert api.get(PATH).json == [created]
    assert api.as_token(token).get("/account").json["email"] == ada.email
    assert api.get(PATH).json[0]["last_used_at"] is not None
    with app.app_context():
        row = current_frontdesk.session.query(PersonalToken).one()
        stored = {str(value) for value in vars(row).values()}
    assert not any(token in each for each in stored)


def test_lists_have_the_valid_tokens_newest_first(
    ada: Person, make_token: MakeToken, clock: SteppingClock
) -> None:
    short, long, ended = (make_token(ada, days=days)["id"] for days in (1, 3, 3))
    api = ada.api()
    assert api.delete(f"{PATH}/{ended}").json["id"] == ended
    api.delete(f"{PATH}/{ended}", 404)
    assert [each["id"] for each in api.get(PATH).json] == [long, short]
    clock.step(days=1)
    assert [each["id"] for each in api.get(PATH).json] == [long]
    api.delete(f"{PATH}/{short}", 404)


def test_tokens_of_others_are_not_found(
    ada: Person, person: MakePerson, make_token: MakeToken
) -> None:
    created = make_token(ada)
    bob = person("bob").api()
    assert bob.get(PATH).json == []
    bob.delete(f"{PATH}/{created['id']}", 404)
    bob.as_token(created["token"]).get("/account")


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("name", [None, "", " ", "x" * 81, 5]),
        ("scopes", [None, [], "account:read", ["root"], ["account:read"] * 51, [""]]),
        ("workspace", ["nowhere", "team", "current", 5]),
        ("days", [0, 367, -1, "x", True, None]),
    ],
)
def test_invalid_input_is_rejected(
    ada: Person, person: MakePerson, member: str, values: list[Any]
) -> None:
    person("bob").api().post("/workspaces", json={"slug": "team", "name": "Team"})
    api = ada.api()
    for value in values:
        body = {"name": "Backup", "scopes": ["account:read"], member: value}
        answer = api.post(PATH, 422, json=body)
        assert {fault.partition(".")[0] for fault in answer.faults} == {f"json:{member}"}
    assert api.get(PATH).json == []


def test_creation_needs_a_recent_sign_in(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__FRESH_MINUTES="5")
    api = person("bob", into=app).api()
    clock.step(minutes=6)
    body = {"name": "Backup", "scopes": ["account:read"]}
    assert api.post(PATH, 401, json=body).json["code"] == "reauthentication_required"
    assert api.get(PATH).json == []


def test_token_manages_no_tokens(ada: Person, program: Program, app: Flask) -> None:
    every_scope = [each["name"] for each in ada.api().get("/scopes").json]
    token = program(ada, *every_scope)
    for method, path in (
        ("GET", PATH),
        ("POST", PATH),
        ("DELETE", f"{PATH}/1"),
        ("GET", "/scopes"),
    ):
        answer = token.send(method, path, 403, json={})
        assert answer.json["code"] == "insufficient_scope"


def test_scopes_have_descriptions(ada: Person) -> None:
    shown = ada.api().get("/scopes").json
    assert {"name": "account:read", "description": "Read your account"} in shown
    assert shown == sorted(shown, key=lambda each: str(each["name"]))


def test_account_has_25_valid_tokens_at_most(
    ada: Person, make_token: MakeToken, clock: SteppingClock
) -> None:
    for days in (1, *[2] * 22):
        make_token(ada, days=days)
    api = ada.api()
    body = {"name": "Backup", "scopes": ["account:read"]}
    statuses = run_concurrently(*[request(api, "POST", PATH, json=body) for _ in range(5)])
    assert statuses == [201, 201, 409, 409, 409]
    assert api.post(PATH, 409, json=body).json["code"] == "quota_reached"
    clock.step(days=1)
    api.post(PATH, 201, json=body)


def test_root_lists_and_ends_the_tokens_of_an_account(
    ada: Person, person: MakePerson, make_token: MakeToken
) -> None:
    first, second, third = (make_token(ada) for _ in range(3))
    root, path = person("root", role="root").api(), f"/admin/accounts/{ada.id}{PATH}"
    assert [each["id"] for each in root.get(path).json] == [
        each["id"] for each in (third, second, first)
    ]
    assert root.delete(f"{path}/{second['id']}").json["id"] == second["id"]
    root.delete(f"{path}/{second['id']}", 404)
    for token, status in ((first, 200), (second, 401)):
        root.as_token(token["token"]).get("/account", status)
    assert root.delete(path).json == {"ended": 2}
    assert root.delete(path).json == {"ended": 0}
    assert root.as_token(first["token"]).get("/account", 401).json["reason"] == "revoked"
    for method in ("GET", "DELETE"):
        root.send(method, f"/admin/accounts/999{PATH}", 404)
        person(f"{method}@example.com", role="admin").api().send(method, path, 403)


def test_owner_is_notified_of_a_new_token(
    ada: Person, make_token: MakeToken, mails: MailOutbox
) -> None:
    make_token(ada, name="<b>Backup</b>")
    mail = mails.assert_sent(ada.email, "a personal token was created", "“<b>Backup</b>”")
    assert "<b>Backup</b>" not in mail.html


def test_disabled_feature_has_no_routes(make_app: MakeApp, person: MakePerson) -> None:
    api = person("bob", into=make_app()).api()
    for path in (PATH, "/scopes", f"/admin/accounts/1{PATH}"):
        assert api.get(path, 404).json["code"] == "feature_off"
