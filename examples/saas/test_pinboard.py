from __future__ import annotations

import os
from collections.abc import Iterator
from secrets import token_urlsafe

import pytest
from flask import Flask
from flask_frontdesk.testing import Api, Kit, Person
from pinboard import create_app
from pinboard.models import db


# [app]
@pytest.fixture
def app() -> Iterator[Flask]:
    app = create_app(os.environ.get("TEST_DATABASE_URL", "sqlite://"))
    with app.app_context():
        db.create_all()
    yield app
    with app.app_context():
        db.drop_all()


# [end]


# [people]
@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada", name="Ada")


@pytest.fixture
def bob(frontdesk: Kit) -> Person:
    return frontdesk.account("bob", name="Bob")


def invite(inviter: Api, workspace: str, guest: Person, type: str = "member") -> None:
    body = {"email": guest.email, "type": type}
    inviter.post(f"/api/workspaces/{workspace}/invitations", 201, json=body)
    [invitation] = guest.api().get("/api/invitations").json
    guest.api().post(f"/api/invitations/{invitation['id']}/accept")


# [end]


# [sign-up]
PASSWORD = token_urlsafe()


def test_sign_up_creates_an_account_and_a_workspace(frontdesk: Kit) -> None:
    new = {"email": "eve@example.com", "password": PASSWORD, "name": "Eve"}
    assert frontdesk.api().post("/api/sign-up", 201, json=new).json["name"] == "Eve"
    form = {"username": "eve@example.com", "password": PASSWORD}
    answer = frontdesk.api().post("/api/login", data=form).json
    assert [workspace["slug"] for workspace in answer["workspaces"]] == ["eve"]


def test_second_sign_up_with_an_address_is_rejected(frontdesk: Kit, ada: Person) -> None:
    again = {"email": ada.email, "password": PASSWORD, "name": "Ada"}
    assert frontdesk.api().post("/api/sign-up", 409, json=again).json["code"] == "email_taken"


# [end]


# [pins]
def test_pinned_note_reaches_the_other_members(ada: Person, bob: Person, frontdesk: Kit) -> None:
    frontdesk.workspace("team", owner=ada)
    invite(ada.api(), "team", bob)
    bob.api().post("/api/team/notes/", 201, json={"text": "Milk is out"})
    assert ada.api().get("/api/team/notes/").json[0]["text"] == "Milk is out"
    assert ada.api().get("/api/inbox/").json[0]["title"] == "Bob pinned a note"
    frontdesk.deliver()
    frontdesk.mails.assert_sent(ada.email, subject="Bob pinned a note")


# [end]


# [tenants]
def test_notes_of_another_workspace_are_not_accessible(ada: Person, bob: Person) -> None:
    note = ada.api().post("/api/ada/notes/", 201, json={"text": "Mine"}).json
    bob.api().get("/api/ada/notes/", 403)
    bob.api().delete(f"/api/bob/notes/{note['id']}", 404)


# [end]


# [take-down]
def test_only_author_or_owner_deletes_a_note(ada: Person, bob: Person, frontdesk: Kit) -> None:
    frontdesk.workspace("team", owner=ada)
    invite(ada.api(), "team", bob)
    of_ada = ada.api().post("/api/team/notes/", 201, json={"text": "A"}).json["id"]
    of_bob = bob.api().post("/api/team/notes/", 201, json={"text": "B"}).json["id"]
    assert bob.api().delete(f"/api/team/notes/{of_ada}", 403).json["code"] == "not_yours"
    ada.api().delete(f"/api/team/notes/{of_bob}")


# [end]


def test_openapi_document_includes_own_views(frontdesk: Kit) -> None:
    paths = frontdesk.api().get("/api/openapi.json").json["paths"]
    assert {"/api/sign-up", "/api/{workspace_slug}/notes/", "/api/login"} <= set(paths)
