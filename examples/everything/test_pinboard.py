from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from io import BytesIO
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit, Person
from pinboard import create_app, hooks
from pinboard.models import Activity, db
from pinboard.settings import Settings
from pydantic import SecretStr
from sqlalchemy import select

NEW_PASSWORD = token_urlsafe()


# [app]
@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.setenv("FRONTDESK_AUTH__EXPORT_FOLDER", str(tmp_path))
    app = create_app(Settings(SECRET_KEY=SecretStr("x" * 32)), SQLALCHEMY_DATABASE_URI="sqlite://")
    with app.app_context():
        db.create_all()
    hooks.sent_emails.clear()
    return app


# [end]


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada", status="trial", name="Ada")


def log_in(frontdesk: Kit, person: Person, status: int = 200) -> Any:
    form = {"username": person.email, "password": person.password}
    return frontdesk.api("/api").post("/login", status, data=form).json


def test_claims(frontdesk: Kit, ada: Person) -> None:
    token = log_in(frontdesk, ada)["access_token"]
    # The part between the dots is readable; the last part is the signature.
    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["role"] == "user"
    assert claims["handle"].startswith("user-")


def test_payload_and_schemas(frontdesk: Kit, ada: Person) -> None:
    response = log_in(frontdesk, ada)
    assert response["greeting"] == "Welcome back, Ada"
    assert set(response["account"]) == {"email", "handle", "name"}
    assert ada.api().get("/api/account").json == response["account"]


def test_active_statuses(frontdesk: Kit) -> None:
    log_in(frontdesk, frontdesk.account("bob", status="active"), 400)


def test_recovery_mail(frontdesk: Kit, ada: Person) -> None:
    frontdesk.api("/api").post("/password-recovery", json={"email": ada.email})
    code = frontdesk.last_code(ada.email)
    assert hooks.sent_emails == [(ada.email, f"Your code is {code}")]
    body = {"token": code, "email": ada.email, "new_password": NEW_PASSWORD}
    frontdesk.api("/api").post("/reset-password", json=body)
    mail = frontdesk.mails.assert_sent(ada.email, subject="password was changed")
    assert "contact the support of the pinboard" in mail.html
    ada.password = NEW_PASSWORD
    assert ada.api().get("/activities").json == ["set a new password", "signed in"]


def test_changed_password(frontdesk: Kit, ada: Person) -> None:
    body = {"current_password": ada.password, "new_password": NEW_PASSWORD}
    ada.api().put("/api/account/password", json=body)
    ada.password = NEW_PASSWORD
    assert "changed the password" in ada.api().get("/activities").json


def test_changed_email_address(frontdesk: Kit, ada: Person) -> None:
    ada.change(email="countess@example.com")
    assert "new email address: countess@example.com" in ada.api().get("/activities").json


def test_deletion_and_restore(frontdesk: Kit, ada: Person) -> None:
    ada.api().delete("/api/account", 202)
    token = frontdesk.mails.last(ada.email).text.partition("?token=")[2].split()[0]
    frontdesk.api("/api").post("/account/restore", json={"token": token})
    assert {"requested deletion", "canceled deletion"} <= set(ada.api().get("/activities").json)


def test_events(frontdesk: Kit, ada: Person) -> None:
    ada.api().delete("/api/logout")
    assert ada.api().get("/activities").json == ["signed in", "signed out", "signed in"]


def test_listener_rejects_the_sign_in(frontdesk: Kit) -> None:
    eve = frontdesk.account("eve", status="overdue")
    assert log_in(frontdesk, eve, 403)["detail"] == "Pay the open invoice to sign in"
    eve.change(role="admin")
    assert eve.api().get("/activities").json == ["signed in"]


def test_task_schemas(frontdesk: Kit) -> None:
    todos = frontdesk.api("/api/todos")
    todos.post("/", 422, json={"title": "no"})
    todo = todos.post("/", 201, json={"title": "Water the plants"}).json
    assert todos.patch(f"/{todo['id']}", json={"done": True}).json["done"] is True


def test_decorators(frontdesk: Kit, ada: Person) -> None:
    assert frontdesk.api().get("/").json == {"welcome": "guest"}
    assert ada.api().get("/").json == {"welcome": "Ada"}
    assert ada.api().get("/statistics", 403).detail == "Not authorized"


def test_registration_with_email_verification(frontdesk: Kit) -> None:
    api = frontdesk.api("/api")
    new = {"email": "new@example.com", "password": NEW_PASSWORD, "name": "New"}
    for email in (new["email"], "eve@blocked.example"):
        api.post("/registration", 202, json={**new, "email": email})
    frontdesk.mails.assert_sent("eve@blocked.example", text="no account was created")
    link = frontdesk.mails.assert_sent("new@example.com", text="/verify?token=").text
    token = link.partition("/verify?token=")[2].split()[0]
    api.post("/email-verification", json={"token": token})
    person = Person(frontdesk.app, 1, "new@example.com", NEW_PASSWORD)
    response = log_in(frontdesk, person)
    assert response["account"]["name"] == "New"
    assert response["account"]["handle"].startswith("user-")
    activities = person.api().get("/activities").json
    assert activities[:2] == ["signed up", "verified the email address"]


def test_registration(frontdesk: Kit) -> None:
    new = {"email": "new@example.com", "password": NEW_PASSWORD, "name": "New"}
    assert frontdesk.api().post("/members", 201, json=new).json["handle"].startswith("user-")
    assert frontdesk.api().post("/members", 409, json=new).json["code"] == "email_taken"


def test_page_of_a_list(frontdesk: Kit, ada: Person) -> None:
    ada.api()
    root = frontdesk.account("root", role="root", status="trial").api()
    first = root.get("/activities/all?limit=1")
    assert [activity["text"] for activity in first.json] == ["signed in"]
    assert first.headers["Link"] == '</activities/all?limit=1&offset=1>; rel="next"'


def test_openapi_document(frontdesk: Kit) -> None:
    paths = frontdesk.api("/api").get("/openapi.json").json["paths"]
    assert {"/api/login", "/api/todos/", "/activities", "/members"} <= set(paths)


def test_notify(frontdesk: Kit, ada: Person) -> None:
    ada.change(phone="+15550100")
    root = frontdesk.account("root", role="root", status="trial").api()
    ada.api()
    assert root.post("/reminders").json == {"reminded": True}
    frontdesk.deliver()
    assert ada.api().get("/api/inbox/").json[0]["title"] == "Your trial ends soon"
    frontdesk.mails.assert_sent(ada.email, subject="trial ends soon")
    frontdesk.sms.assert_sent("+15550100", text="Choose a plan")


# [channel]
def test_receivers_and_channels(frontdesk: Kit, ada: Person) -> None:
    eve = frontdesk.account("eve", status="suspended")
    grace = frontdesk.account("grace", role="admin", status="trial").api()
    data = {"title": "Maintenance", "message": "Tomorrow", "channels": ["inapp", "discord"]}
    grace.post("/api/broadcasts/", 201, json={"data": data})
    frontdesk.deliver()
    assert ada.api().get("/api/inbox/unread-count").json == {"unread": 1, "unseen": 1}
    assert f"{ada.email}: Maintenance" in hooks.sent_to_discord
    assert not [line for line in hooks.sent_to_discord if eve.email in line]


# [end]


def test_workspace_resolver(frontdesk: Kit, ada: Person) -> None:
    frontdesk.workspace("design", owner=ada, name="Design")
    response = frontdesk.api().get("/teams/design/welcome").json
    assert response == {"welcome": "The notes of Design"}
    frontdesk.api().get("/teams/nowhere/welcome", 404)


def test_invitations(frontdesk: Kit, ada: Person) -> None:
    frontdesk.workspace("design", owner=ada, name="Design")
    eve = frontdesk.account("eve", status="trial").api()
    path = "/api/teams/design/invitations"
    ada.api().post(path, 403, json={"email": "bob@blocked.example"})
    for action in ("decline", "accept"):
        ada.api().post(path, 201, json={"email": "eve@example.com"})
        [invitation] = eve.get("/api/invitations").json
        eve.post(f"/api/invitations/{invitation['id']}/{action}")
    activities = ada.api().get("/activities").json
    assert {"eve@example.com accepted", "eve@example.com declined"} <= set(activities)


def test_profile(ada: Person) -> None:
    profile = {"first_name": "Ada", "last_name": "Lovelace", "department": "Research"}
    shown = ada.api().post("/api/profiles", 200, json=profile).json
    assert shown["department"] == "Research"
    assert "date_of_birth" not in shown
    changed = ada.api().put("/api/profiles", 200, json={"department": "Design"}).json
    assert changed["department"] == "Design"


def test_exporter(frontdesk: Kit, ada: Person) -> None:
    requested = ada.api().post("/api/account/exports", 202, json={}).json
    frontdesk.deliver()
    download = ada.api().get(f"/api/account/exports/{requested['id']}/file")
    archive = ZipFile(BytesIO(download.response.get_data()))
    assert json.loads(archive.read("pinboard/account.json"))["name"] == "Ada"
    assert "pinboard/activities.txt" in archive.namelist()


def test_eraser(app: Flask, frontdesk: Kit, ada: Person) -> None:
    bob = frontdesk.account("bob", status="trial")
    with app.app_context():
        db.session.add(Activity(account_id=bob.id, text="mentioned Ada"))
        db.session.commit()
        hooks.frontdesk.accounts.delete(hooks.frontdesk.accounts.get(ada.email))
        texts = db.session.scalars(select(Activity.text)).all()
    assert "mentioned Ada" not in texts


def test_account_deleted(app: Flask, ada: Person) -> None:
    with app.app_context():
        accounts = hooks.frontdesk.accounts
        account = accounts.get(ada.email)
        handle = account.handle
        accounts.delete(account)
    assert hooks.released[-1] == handle
