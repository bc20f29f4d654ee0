"""Creating and suspending accounts, and actions for them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..auth.test_login import listen_to
from ..conftest import MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.manual_engine import ManualEngine
from .admin_api import ACCOUNTS, AdminApi, log_in

PASSWORD = "a password never seen before"


def test_account_is_created_with_the_given_values(admin_api: AdminApi, app: Flask) -> None:
    emitted: list[object] = []
    listen_to(app, "account-registered", lambda account, _: emitted.append(account.email))
    fields = {"role": "admin", "status": "inactive", "phone": "+49 170 1234567"}
    created = admin_api.create(" Grace@Example.com", password=PASSWORD, **fields).json
    assert (created["email"], created["role"], created["status"]) == (
        "grace@example.com",
        "admin",
        "inactive",
    )
    assert (created["phone"], created["has_password"]) == ("+491701234567", True)
    assert admin_api.api.get(f"{ACCOUNTS}/{created['id']}").json == created
    assert emitted == ["grace@example.com"]


def test_created_account_signs_in_with_its_password(admin_api: AdminApi, app: Flask) -> None:
    created = admin_api.create("grace@example.com", password=PASSWORD).json
    grace = Person(app, created["id"], created["email"], PASSWORD, "/api/v1")
    assert len(log_in(grace).json["workspaces"]) == 1


def test_invited_owner_chooses_a_password_by_email(
    admin_api: AdminApi, app: Flask, mails: MailOutbox
) -> None:
    created = admin_api.create("grace@example.com", invite=True).json
    assert (created["has_password"], created["status"]) == (False, "active")
    mail = mails.last("grace@example.com")
    assert "an account was created for you" in mail.subject
    link = re.search(r"http://localhost:3000/reset\?token=(\S+)", mail.text)
    assert link
    Api(app).post("/reset-password", json={"token": link[1], "new_password": PASSWORD})
    log_in(Person(app, created["id"], created["email"], PASSWORD))
    assert admin_api.api.get(f"{ACCOUNTS}/{created['id']}").json["has_password"] is True


def test_account_without_password_and_invitation_gets_no_email(
    admin_api: AdminApi, mails: MailOutbox
) -> None:
    assert admin_api.create("grace@example.com").json["has_password"] is False
    assert len(mails) == 0


def test_taken_email_is_rejected(admin_api: AdminApi, ada: Person, mails: MailOutbox) -> None:
    response = admin_api.create("ADA@example.com", 409, invite=True)
    assert response.json["code"] == "email_taken"
    assert len(mails) == 0


@for_each(
    ("body", "faults"),
    [
        ({}, ["email"]),
        ({"email": "not-an-email"}, ["email"]),
        ({"email": "g@example.com", "phone": "12"}, ["phone"]),
        ({"email": "g@example.com", "role": "king"}, ["role"]),
        ({"email": "g@example.com", "status": "pending"}, ["status"]),
        ({"email": "g@example.com", "status": "activ"}, ["status"]),
        ({"email": "g@example.com", "password": "short"}, ["password"]),
        ({"email": "g@example.com", "password": "password1"}, ["password"]),
        ({"email": "g@example.com", "password": PASSWORD, "invite": True}, ["invite"]),
    ],
)
def test_invalid_account_is_a_422(admin_api: AdminApi, body: Any, faults: list[str]) -> None:
    response = admin_api.api.post(ACCOUNTS, 422, json=body)
    assert response.faults == [f"json:{name}" for name in faults]


def test_suspended_account_is_signed_out(admin_api: AdminApi, ada: Person) -> None:
    api = ada.api()
    changed = admin_api.change(ada, status="suspended", suspended_reason="Sells beans").json
    assert (changed["status"], changed["suspended_until"]) == ("suspended", None)
    assert changed["suspended_reason"] == "Sells beans"
    api.get("/account", 401)
    assert log_in(ada, 400).detail == "Inactive account"
    admin_api.change(ada, status="active")
    log_in(ada)
    # Tokens from before the suspension stay revoked.
    assert api.get("/account", 401).detail == "Could not validate credentials"


def test_suspension_ends_at_its_date(
    admin_api: AdminApi, root: Person, ada: Person, clock: SteppingClock
) -> None:
    until = (clock.now() + timedelta(minutes=5)).replace(microsecond=0)
    changed = admin_api.change(ada, status="suspended", suspended_until=until.isoformat())
    assert changed.json["suspended_until"] == until.isoformat()
    log_in(ada, 400)
    assert [each["email"] for each in found(admin_api, status="suspended")] == [ada.email]
    clock.step(minutes=6)
    again = AdminApi(root.api())
    over = again.read(ada)
    assert (over["status"], over["suspended_until"]) == ("active", None)
    assert found(again, status="suspended") == []
    assert ada.email in [each["email"] for each in found(again, status="active")]
    assert log_in(ada).json["account"]["status"] == "active"
    assert ada.api().get("/account").json["status"] == "active"


def found(admin_api: AdminApi, **query: str) -> list[Any]:
    listed: list[Any] = admin_api.api.get(ACCOUNTS, query_string=query).json
    return listed


def test_sign_in_stores_the_end_of_a_suspension(
    app: Flask, admin_api: AdminApi, ada: Person, clock: SteppingClock
) -> None:
    until = (clock.now() + timedelta(minutes=1)).isoformat()
    admin_api.change(ada, status="suspended", suspended_until=until, suspended_reason="A word")
    clock.step(minutes=2)
    log_in(ada)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        assert (account.status, account.suspended_until, account.suspended_reason) == (
            "active",
            None,
            None,
        )


def test_expired_suspension_needs_no_further_query(
    app: Flask, admin_api: AdminApi, ada: Person, clock: SteppingClock
) -> None:
    """A token can outlive a suspension that the application has written directly."""
    token = ada.token()
    with app.app_context():
        account = service(Accounts).get(ada.email)
        service(Accounts).change(account, status="suspended")
        account.suspended_until = clock.now()
        current_frontdesk.session.commit()
    api = Api(app, token=token)
    api.get("/notifications")
    with noted_queries(app) as noted:
        assert api.get("/account").json["status"] == "active"
    assert len(noted) == 1


def test_new_status_clears_the_suspension(
    app: Flask, admin_api: AdminApi, ada: Person, clock: SteppingClock
) -> None:
    until = (clock.now() + timedelta(minutes=1)).isoformat()
    admin_api.change(ada, status="suspended", suspended_until=until)
    ada.change(status="suspended")
    clock.step(minutes=2)
    assert admin_api.read(ada)["status"] == "suspended"
    log_in(ada, 400)


def test_date_and_reason_are_changed_independently(admin_api: AdminApi, ada: Person) -> None:
    first, second = ("2100-01-01T00:00:00+00:00", "2100-02-01T00:00:00+00:00")
    admin_api.change(ada, status="suspended", suspended_until=first, suspended_reason="A word")
    changed = admin_api.change(ada, suspended_until=second).json
    assert (changed["suspended_until"], changed["suspended_reason"]) == (second, "A word")
    changed = admin_api.change(ada, suspended_until=None, suspended_reason="Another").json
    assert (changed["suspended_until"], changed["suspended_reason"]) == (None, "Another")
    assert admin_api.change(ada, status="active").json["suspended_reason"] is None


@for_each(
    ("body", "field"),
    [
        ({"suspended_until": "2100-01-01T00:00:00+00:00"}, "suspended_until"),
        ({"suspended_reason": "A word"}, "suspended_reason"),
        ({"status": "inactive", "suspended_until": "2100-01-01T00:00:00+00:00"}, "suspended_until"),
        (
            {"status": "suspended", "suspended_until": "2000-01-01T00:00:00+00:00"},
            "suspended_until",
        ),
        ({"status": "suspended", "suspended_until": "tomorrow"}, "suspended_until"),
        ({"status": "suspended", "suspended_reason": " "}, "suspended_reason"),
        ({"status": "suspended", "suspended_reason": "a" * 501}, "suspended_reason"),
        ({"status": "sleeping"}, "status"),
        ({"status": "pending"}, "status"),
        ({"status": None}, "status"),
        ({"role": "king"}, "role"),
        ({"role": None}, "role"),
    ],
)
def test_invalid_suspension_is_a_422(
    admin_api: AdminApi, ada: Person, body: Any, field: str
) -> None:
    before = admin_api.read(ada)
    assert admin_api.change(ada, 422, **body).faults == [f"json:{field}"]
    assert admin_api.read(ada) == before


@pytest.fixture
def waiting(app: Flask, clock: SteppingClock) -> Person:
    """An account with an unverified address."""
    with app.app_context():
        since: Any = {"status": "pending", "email_unverified_since": clock.now()}
        account = service(Accounts).create("grace@example.com", PASSWORD, **since)
        return Person(app, account.id, account.email, PASSWORD, "/api/v1")


def test_end_of_suspension_does_not_verify_an_account(admin_api: AdminApi, waiting: Person) -> None:
    date = {"suspended_until": "2100-01-01T00:00:00+00:00"}
    assert admin_api.change(waiting, 422, status="suspended", **date).faults == [
        "json:suspended_until"
    ]
    admin_api.change(waiting, status="suspended")


def test_admin_can_verify_an_address(app: Flask, admin_api: AdminApi, waiting: Person) -> None:
    emitted: list[str] = []
    for event in ("account-registered", "email-verified"):
        listen_to(app, event, lambda *_, event=event: emitted.append(event))
    verified = admin_api.do("verify", waiting).json
    assert (verified["status"], verified["email_verified"]) == ("active", True)
    assert log_in(waiting).json["workspaces"]
    assert admin_api.do("verify", waiting).json["email_verified"] is True
    assert emitted == ["account-registered", "email-verified"]


def test_unlock_resets_wrong_passwords(admin_api: AdminApi, ada: Person) -> None:
    for _ in range(5):
        log_in(ada, 400, "wrong password")
    log_in(ada, 429)
    admin_api.do("unlock", ada)
    log_in(ada)


def test_sign_out_ends_all_tokens(admin_api: AdminApi, ada: Person) -> None:
    api = ada.api()
    admin_api.do("sign-out", ada)
    log_in(ada)
    assert api.get("/account", 401).detail == "Could not validate credentials"


def test_recovery_emails_are_sent_and_limited(
    admin_api: AdminApi, ada: Person, mails: MailOutbox, app: Flask
) -> None:
    assert admin_api.do("recovery", ada).json == {"message": "Password recovery email sent"}
    token = re.search(r"\?token=(\S+)", mails.last(ada.email).text)
    assert token
    Api(app).post("/reset-password", json={"token": token[1], "new_password": PASSWORD})
    log_in(ada, password=PASSWORD)
    # Requests from the network of the sign-in count apart from the first one.
    for _ in range(5):
        admin_api.do("recovery", ada)
    assert "Retry-After" in admin_api.do("recovery", ada, 429).headers


def test_deletion_returns_the_account(admin_api: AdminApi, ada: Person) -> None:
    api, details = ada.api(), admin_api.read(ada)
    assert admin_api.api.delete(admin_api.path(ada)).json == details
    admin_api.api.get(admin_api.path(ada), 404)
    api.get("/account", 404)


def test_suspension_names_workspaces_without_an_active_owner(
    admin_api: AdminApi, app: Flask, ada: Person, person: MakePerson
) -> None:
    bob, runner = person("bob"), app.test_cli_runner()
    for slug in ("team", "shop", "alone"):
        ada.api().post("/workspaces", json={"name": slug, "slug": slug})
    for slug in ("team", "shop"):
        runner.invoke(args=["workspaces", "add", slug, bob.email])
    suspended = admin_api.change(ada, status="suspended").json
    assert suspended["workspaces_without_owner"] == ["shop", "team"]
    assert admin_api.change(bob, status="suspended").json["workspaces_without_owner"] == []
    admin_api.change(bob, status="active")
    # The command that the notices name.
    runner.invoke(args=["workspaces", "add", "team", bob.email, "--type", "owner"])
    assert admin_api.change(ada, status="active").json["workspaces_without_owner"] == []
    result = runner.invoke(args=["accounts", "set", ada.email, "--status", "inactive"])
    assert result.exit_code == 0
    assert "the workspace shop has no active owner" in result.stderr
    assert "flask workspaces add shop EMAIL --type owner" in result.stderr
    assert "team" not in result.stderr


def test_sole_owner_is_not_deleted(
    admin_api: AdminApi, app: Flask, ada: Person, person: MakePerson
) -> None:
    bob, runner = person("bob"), app.test_cli_runner()
    for slug in ("team", "alone"):
        ada.api().post("/workspaces", json={"name": slug, "slug": slug})
    runner.invoke(args=["workspaces", "add", "team", bob.email])
    rejected = admin_api.api.delete(admin_api.path(ada), 409).json
    assert (rejected["code"], rejected["workspaces"]) == ("sole_owner", ["team"])
    admin_api.read(ada)
    runner.invoke(args=["workspaces", "add", "team", bob.email, "--type", "owner"])
    admin_api.api.delete(admin_api.path(ada))
    assert [each["slug"] for each in bob.api().get("/workspaces").json] == ["bob", "team"]


def test_memberships_are_listed(admin_api: AdminApi, ada: Person) -> None:
    ada.api().post("/workspaces", json={"name": "Team", "slug": "team"})
    response = admin_api.api.get(admin_api.path(ada, "/memberships"))
    assert [(each["slug"], each["type"], each["status"]) for each in response.json] == [
        ("ada", "owner", "active"),
        ("team", "owner", "active"),
    ]
    first = admin_api.api.get(admin_api.path(ada, "/memberships?limit=1"))
    assert "offset=1" in first.headers["Link"]


def test_deliveries_to_an_account_are_listed(
    admin_api: AdminApi, ada: Person, person: MakePerson, engine: ManualEngine
) -> None:
    bob = person("bob")
    ids = []
    for number, receiver in enumerate([ada, ada, bob, ada]):
        data = {"title": f"News {number}", "message": "m", "channels": ["inapp", "email", "sms"]}
        body = {"data": data, "account_receiver_ids": [receiver.id]}
        ids.append(admin_api.api.post("/admin/notifications", 201, json=body).json["id"])
    engine.deliver()
    path = admin_api.path(ada, "/deliveries")
    response = admin_api.api.get(path)
    assert response.headers["X-Total-Count"] == "6"
    newest = {each["channel"]: each for each in response.json[:2]}
    assert newest["email"]["title"] == "News 3"
    assert newest["email"]["notification_id"] == ids[3]
    assert newest["sms"]["state"] == "skipped"
    assert newest["sms"]["reason"]
    assert {each["title"] for each in response.json} == {"News 0", "News 1", "News 3"}
    first = admin_api.api.get(f"{path}?limit=4")
    admin_api.api.post("/admin/notifications", 201, json=body)
    link = first.headers["Link"].partition("/api/v1")[2].partition(">")[0]
    assert first.json + admin_api.api.get(link).json == response.json


@only_on("sqlite")
def test_each_action_is_in_the_security_log(
    admin_api: AdminApi, root: Person, ada: Person, security_lines: list[Any]
) -> None:
    admin_api.change(ada, role="admin")
    admin_api.change(ada, status="suspended", suspended_until="2100-01-01T00:00:00+00:00")
    for action in ("unlock", "sign-out", "recovery"):
        admin_api.do(action, ada)
    admin_api.api.delete(admin_api.path(ada))
    words = [line["event"] for line in security_lines]
    assert words == [
        "account_change",
        "account_change",
        "account_unlock",
        "tokens_ended",
        "recovery_request",
        "account_deletion",
    ]
    assert {(line["account_id"], line["actor_id"]) for line in security_lines} == {
        (ada.id, root.id)
    }
    assert (security_lines[0]["role_before"], security_lines[0]["role_after"]) == ("user", "admin")
    assert security_lines[1]["changed"] == ["status", "suspended_until"]
