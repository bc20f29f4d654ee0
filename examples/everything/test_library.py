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
from library import create_app, decisions
from library.models import Visit, db
from library.settings import Settings
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
    decisions.sent_emails.clear()
    return app


# [end]


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada", status="reader", nickname="Ada")


def log_in(frontdesk: Kit, person: Person, status: int = 200) -> Any:
    form = {"username": person.email, "password": person.password}
    return frontdesk.api("/desk").post("/login", status, data=form).json


def test_claims(frontdesk: Kit, ada: Person) -> None:
    token = log_in(frontdesk, ada)["access_token"]
    # The part between the dots is readable; the last part is the signature.
    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["role"] == "user"
    assert claims["card"].startswith("L-")


def test_payload_and_schemas(frontdesk: Kit, ada: Person) -> None:
    answer = log_in(frontdesk, ada)
    assert answer["greeting"] == "Good morning, Ada"
    assert set(answer["account"]) == {"email", "card", "nickname"}
    assert ada.api().get("/desk/account").json == answer["account"]


def test_active_statuses(frontdesk: Kit) -> None:
    log_in(frontdesk, frontdesk.account("bob", status="active"), 400)


def test_recovery_mail(frontdesk: Kit, ada: Person) -> None:
    frontdesk.api("/desk").post("/password-recovery", json={"email": ada.email})
    code = frontdesk.last_code(ada.email)
    assert decisions.sent_emails == [(ada.email, f"Your code is {code}")]
    body = {"token": code, "email": ada.email, "new_password": NEW_PASSWORD}
    frontdesk.api("/desk").post("/reset-password", json=body)
    mail = frontdesk.mails.assert_sent(ada.email, subject="password was changed")
    assert "come to the desk" in mail.html
    ada.password = NEW_PASSWORD
    assert ada.api().get("/visits").json == ["set a new password", "signed in"]


def test_a_changed_password(frontdesk: Kit, ada: Person) -> None:
    body = {"current_password": ada.password, "new_password": NEW_PASSWORD}
    ada.api().put("/desk/account/password", json=body)
    ada.password = NEW_PASSWORD
    assert "changed the password" in ada.api().get("/visits").json


def test_changed_email_address(frontdesk: Kit, ada: Person) -> None:
    ada.change(email="countess@example.com")
    assert "new address: countess@example.com" in ada.api().get("/visits").json


def test_deletion_and_restore(frontdesk: Kit, ada: Person) -> None:
    ada.api().delete("/desk/account", 202)
    token = frontdesk.mails.last(ada.email).text.partition("?token=")[2].split()[0]
    frontdesk.api("/desk").post("/account/restore", json={"token": token})
    assert {"requested deletion", "canceled deletion"} <= set(ada.api().get("/visits").json)


def test_events(frontdesk: Kit, ada: Person) -> None:
    ada.api().delete("/desk/logout")
    assert ada.api().get("/visits").json == ["signed in", "signed out", "signed in"]


def test_a_listener_aborts(frontdesk: Kit) -> None:
    eve = frontdesk.account("eve", status="librarian")
    assert log_in(frontdesk, eve, 403)["detail"] == "Not on duty"
    eve.change(role="admin")
    assert eve.api().get("/visits").json == ["signed in"]


def test_task_schemas(frontdesk: Kit) -> None:
    loans = frontdesk.api("/desk/loans")
    loans.post("/", 422, json={"title": "no"})
    loan = loans.post("/", 201, json={"title": "Middlemarch"}).json
    assert loans.patch(f"/{loan['id']}", json={"done": True}).json["done"] is True


def test_guards(frontdesk: Kit, ada: Person) -> None:
    assert frontdesk.api().get("/").json == {"welcome": "guest"}
    assert ada.api().get("/").json == {"welcome": "Ada"}
    assert ada.api().get("/stacks", 403).detail == "Not authorized"


def test_registration_with_email_verification(frontdesk: Kit) -> None:
    desk = frontdesk.api("/desk")
    new = {"email": "new@example.com", "password": NEW_PASSWORD, "nickname": "New"}
    for email in (new["email"], "eve@bookshop.example"):
        desk.post("/registration", 202, json={**new, "email": email})
    frontdesk.mails.assert_sent("eve@bookshop.example", text="no account was created")
    link = frontdesk.mails.assert_sent("new@example.com", text="/verify?token=").text
    token = link.partition("/verify?token=")[2].split()[0]
    desk.post("/email-verification", json={"token": token})
    person = Person(frontdesk.app, 1, "new@example.com", NEW_PASSWORD)
    answer = log_in(frontdesk, person)
    assert answer["account"]["nickname"] == "New"
    assert answer["account"]["card"].startswith("L-")
    notes = person.api().get("/visits").json
    assert notes[:2] == ["asked to register", "became a reader"]


def test_registration(frontdesk: Kit) -> None:
    new = {"email": "new@example.com", "password": NEW_PASSWORD, "nickname": "New"}
    assert frontdesk.api().post("/readers", 201, json=new).json["card"].startswith("L-")
    assert frontdesk.api().post("/readers", 409, json=new).json["code"] == "email_taken"


def test_a_page_of_a_list(frontdesk: Kit, ada: Person) -> None:
    ada.api()
    root = frontdesk.account("root", role="root", status="reader").api()
    first = root.get("/visits/all?limit=1")
    assert [visit["note"] for visit in first.json] == ["signed in"]
    assert first.headers["Link"] == '</visits/all?limit=1&offset=1>; rel="next"'


def test_the_description(frontdesk: Kit) -> None:
    paths = frontdesk.api("/desk").get("/openapi.json").json["paths"]
    assert {"/desk/login", "/desk/loans/", "/visits", "/readers"} <= set(paths)


def test_notify(frontdesk: Kit, ada: Person) -> None:
    ada.change(phone="+15550100")
    root = frontdesk.account("root", role="root", status="reader").api()
    ada.api()
    assert root.post("/overdue").json == {"reminded": True}
    frontdesk.deliver()
    assert ada.api().get("/desk/post/").json[0]["title"] == "A book is overdue"
    frontdesk.mails.assert_sent(ada.email, subject="overdue")
    frontdesk.sms.assert_sent("+15550100", text="Bring it back")


# [channel]
def test_receivers_and_channels(frontdesk: Kit, ada: Person) -> None:
    eve = frontdesk.account("eve", status="suspended")
    boss = frontdesk.account("boss", role="admin", status="reader").api()
    data = {"title": "Closed", "message": "Tomorrow", "channels": ["inapp", "discord"]}
    boss.post("/desk/mailings/", 201, json={"data": data})
    frontdesk.deliver()
    assert ada.api().get("/desk/post/unread-count").json == {"unread": 1, "unseen": 1}
    assert f"{ada.email}: Closed" in decisions.sent_to_discord
    assert not [line for line in decisions.sent_to_discord if eve.email in line]


# [end]


def test_workspace_resolver(frontdesk: Kit, ada: Person) -> None:
    frontdesk.workspace("main-street", owner=ada, name="Main Street")
    answer = frontdesk.api().get("/branches/main-street/hours").json
    assert answer == {"branch": "Main Street", "hours": "9 to 5"}
    frontdesk.api().get("/branches/nowhere/hours", 404)


def test_invitations(frontdesk: Kit, ada: Person) -> None:
    frontdesk.workspace("main-street", owner=ada, name="Main Street")
    eve = frontdesk.account("eve", status="reader").api()
    path = "/desk/branches/main-street/invitations"
    ada.api().post(path, 403, json={"email": "bob@bookshop.example"})
    for answer in ("decline", "accept"):
        ada.api().post(path, 201, json={"email": "eve@example.com"})
        [invitation] = eve.get("/desk/invitations").json
        eve.post(f"/desk/invitations/{invitation['id']}/{answer}")
    visits = ada.api().get("/visits").json
    assert {"eve@example.com accepted", "eve@example.com declined"} <= set(visits)


def test_profile(ada: Person) -> None:
    card = {"first_name": "Ada", "last_name": "Lovelace", "shelf": "Mathematics"}
    shown = ada.api().post("/desk/profiles", 200, json=card).json
    assert shown["shelf"] == "Mathematics"
    assert "date_of_birth" not in shown
    assert ada.api().put("/desk/profiles", 200, json={"shelf": "Poetry"}).json["shelf"] == "Poetry"


def test_exporter(frontdesk: Kit, ada: Person) -> None:
    asked = ada.api().post("/desk/account/exports", 202, json={}).json
    frontdesk.deliver()
    answer = ada.api().get(f"/desk/account/exports/{asked['id']}/file")
    archive = ZipFile(BytesIO(answer.response.get_data()))
    assert json.loads(archive.read("library/card.json"))["nickname"] == "Ada"
    assert "library/visits.txt" in archive.namelist()


def test_eraser(app: Flask, frontdesk: Kit, ada: Person) -> None:
    bob = frontdesk.account("bob", status="reader")
    with app.app_context():
        db.session.add(Visit(account_id=bob.id, note="looked for Ada"))
        db.session.commit()
        decisions.frontdesk.accounts.delete(decisions.frontdesk.accounts.get(ada.email))
        notes = db.session.scalars(select(Visit.note)).all()
    assert "looked for Ada" not in notes


def test_account_deleted(app: Flask, ada: Person) -> None:
    with app.app_context():
        accounts = decisions.frontdesk.accounts
        account = accounts.get(ada.email)
        card = account.card
        accounts.delete(account)
    assert decisions.returned[-1] == card
