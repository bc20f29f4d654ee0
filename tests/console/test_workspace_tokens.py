"""Tokens of a workspace on the console's pages, for its owners and admins."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST
from .form_client import FormClient
from .page_reader import error_of, notice_of, visible_text

API = "/workspaces/team/tokens"
PAGE, NEW = API, f"{API}/new"
FORM: dict[str, Any] = {"name": "Member sync", "scopes": ["members:read"], "type": "guest"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES, WORKSPACES__ADDING="direct")


@pytest.fixture
def team(ada: Person, person: MakePerson) -> dict[str, Person]:
    """The members of the workspace by their type; Ada is its owner."""
    owner = ada.api()
    owner.post("/workspaces", json={"name": "Team", "slug": "team"})
    people = {"owner": ada}
    for kind in ("admin", "member"):
        people[kind] = person(kind)
        body = {"email": people[kind].email, "type": kind}
        owner.post("/workspaces/team/members", json=body)
    return people


@pytest.fixture
def pages(app: Flask, team: dict[str, Person]) -> FormClient:
    return FormClient(app, team["owner"])


def test_manager_creates_a_token_that_is_shown_once(pages: FormClient, app: Flask) -> None:
    assert "No tokens yet" in pages.get(PAGE)
    answer = pages.post(NEW, 200, **FORM, days="5")
    [secret] = set(re.findall(r"fdw_[0-9A-Za-z]{38}", answer.text))
    assert answer.headers["Cache-Control"] == "no-store"
    program = Api(app, "/api/v1").as_token(secret)
    assert len(program.get("/workspaces/team/members").json) == 3
    listed = pages.get(PAGE)
    assert secret not in listed
    shown = visible_text(listed)
    for text in ("Member sync", f"{secret[:8]}…", "members:read", "Role: Guest", "Expires soon"):
        assert text in shown
    assert "Last used" in shown


def test_manager_ends_a_token(pages: FormClient, ada: Person) -> None:
    created = ada.api().post(API, 201, json=FORM).json
    path = f"{PAGE}/{created['id']}/end"
    assert notice_of(pages.post_and_follow(path)) == "Ended Member sync."
    assert ada.api().get(API).json == []
    assert "does not exist" in pages.post(path, 404).text


def test_form_offers_what_a_token_of_a_workspace_can_have(
    pages: FormClient, app: Flask, team: dict[str, Person]
) -> None:
    admin = FormClient(app, team["admin"])
    for page in (pages.get(NEW), admin.get(NEW)):
        assert re.findall(r'name="type" value="([^"]*)"', page) == ["admin", "member", "guest"]
        scopes = re.findall(r'name="scopes" value="([^"]*)"', page)
        assert {"members:read", "members:write", "profiles:read", "audit:read"} < {*scopes}
        assert not any(each.startswith(("account", "notifications")) for each in scopes)
    page = pages.post(NEW, 422, name="", type="member").text
    assert error_of(page, "name")
    assert error_of(page, "scopes")
    assert 'value="member" checked' in page
    assert pages.post(NEW, 422, **FORM | {"type": "owner"})


def test_only_managers_see_the_pages(
    app: Flask, team: dict[str, Person], pages: FormClient
) -> None:
    member = FormClient(app, team["member"])
    for path in (PAGE, NEW):
        member.get(path, 403)
    member.post(NEW, 403, **FORM)
    member.post(f"{PAGE}/1/end", 403)
    assert PAGE not in member.get("/workspaces/team")
    assert PAGE in FormClient(app, team["admin"]).get("/workspaces/team")


def test_pages_need_a_recent_sign_in(pages: FormClient, clock: SteppingClock) -> None:
    clock.step(minutes=16)
    for path in (PAGE, NEW):
        led = pages.browser.client.get(path, base_url=HOST)
        assert (led.status_code, led.headers["Location"]) == (303, f"/confirm?next={path}")
    for path in (NEW, f"{PAGE}/1/end"):
        assert pages.post(path, **FORM).headers["Location"].startswith("/confirm")


def test_list_takes_one_query_for_all_tokens(app: Flask, pages: FormClient, ada: Person) -> None:
    for _ in range(3):
        ada.api().post(API, 201, json=FORM)
    with noted_queries(app) as statements:
        pages.get(PAGE)
    assert sum("workspace_tokens" in each for each in statements) == 1
