from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from secrets import token_urlsafe
from typing import Any

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


def sign_up(frontdesk: Kit, email: str, password: str = PASSWORD, status: int = 202) -> Any:
    body = {"email": email, "password": password, "name": "Eve"}
    return frontdesk.api().post("/api/registration", status, json=body).json


def test_sign_up_needs_a_verified_email_address(frontdesk: Kit) -> None:
    sign_up(frontdesk, "eve@example.com")
    form = {"username": "eve@example.com", "password": PASSWORD}
    problem = frontdesk.api().post("/api/login", 400, data=form).json
    assert problem["code"] == "email_not_verified"

    [code] = re.findall(r"\b\d{8}\b", frontdesk.mails.last("eve@example.com").text)
    body = {"email": "eve@example.com", "token": code}
    frontdesk.api().post("/api/email-verification", json=body)
    login = frontdesk.api().post("/api/login", data=form).json
    assert login["account"]["name"] == "Eve"
    assert [workspace["slug"] for workspace in login["workspaces"]] == ["eve"]


def test_sign_up_does_not_disclose_who_has_an_account(frontdesk: Kit, ada: Person) -> None:
    assert sign_up(frontdesk, ada.email) == sign_up(frontdesk, "eve@example.com")


def test_sign_up_rejects_a_common_password(frontdesk: Kit) -> None:
    problem = sign_up(frontdesk, "eve@example.com", "password", 422)
    assert problem["code"] == "common_password"


# [end]


# [pins]
def test_pinned_note_reaches_the_other_members(ada: Person, bob: Person, frontdesk: Kit) -> None:
    frontdesk.workspace("team", owner=ada)
    invite(ada.api(), "team", bob)
    bob.api().post("/api/team/notes/", 201, json={"text": "Milk is out"})
    assert ada.api().get("/api/team/notes/").json[0]["text"] == "Milk is out"
    assert ada.api().get("/api/notifications/").json[0]["title"] == "Bob pinned a note"
    frontdesk.deliver()
    frontdesk.mails.assert_sent(ada.email, subject="Bob pinned a note")


# [end]


# [tenants]
def test_notes_of_another_workspace_are_not_accessible(ada: Person, bob: Person) -> None:
    note = ada.api().post("/api/ada/notes/", 201, json={"text": "Mine"}).json
    bob.api().get("/api/ada/notes/", 403)
    bob.api().delete(f"/api/bob/notes/{note['id']}", 404)


# [end]


# [delete]
def test_only_author_or_owner_deletes_a_note(ada: Person, bob: Person, frontdesk: Kit) -> None:
    frontdesk.workspace("team", owner=ada)
    invite(ada.api(), "team", bob)
    adas_note = ada.api().post("/api/team/notes/", 201, json={"text": "A"}).json["id"]
    bobs_note = bob.api().post("/api/team/notes/", 201, json={"text": "B"}).json["id"]
    assert bob.api().delete(f"/api/team/notes/{adas_note}", 403).json["code"] == "not_yours"
    ada.api().delete(f"/api/team/notes/{bobs_note}")


# [end]


def test_times_have_an_offset(ada: Person) -> None:
    note = ada.api().post("/api/ada/notes/", 201, json={"text": "Mine"}).json
    assert datetime.fromisoformat(note["pinned_at"]).tzinfo is not None
    assert ada.api().get("/api/ada/notes/").json == [note]


def test_console_is_mounted(frontdesk: Kit) -> None:
    assert frontdesk.app.test_client().get("/sign-in").status_code == 200


def test_openapi_document_includes_own_views(frontdesk: Kit) -> None:
    paths = frontdesk.api().get("/api/openapi.json").json["paths"]
    assert {"/api/registration", "/api/{workspace_slug}/notes/", "/api/login"} <= set(paths)
