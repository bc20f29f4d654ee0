"""Account ids of every type: API, emails and deliveries work the same."""

from __future__ import annotations

import json
import os
import secrets
import uuid
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, Integer, LargeBinary, String, Uuid
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, Parts, SetupError, blueprints
from app.accounts.service import Accounts
from app.audit.service import AuditLog
from app.auth.settings import AuthSettings
from app.broadcasts import expansions
from app.console.audit_rows import build_entry_rows
from app.core.context import service
from app.delivery.worker.worker import Worker
from app.notifications.models import EXPAND_BROADCASTS
from app.notifications.service import Notifications
from app.notifications.unsubscribe import Subscription, UnsubscribeTokens
from app.storage import MemoryFileStore
from app.testing.client import Api
from app.testing.kit import Kit
from app.testing.people import Person
from app.workspaces.settings import WorkspacesSettings

from ..conftest import close_connections
from ..rigs.backends import postgres_database
from ..rigs.cases import for_each
from ..rigs.database_cleaner import DatabaseCleaner
from ..rigs.hosts import HostSettings
from ..rigs.pictures import plain

SCHEMA = "crm"
NEW_PASSWORD = "a password never seen before"


class Settings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, ACCOUNT_EXPORTS="on")
    WORKSPACES = WorkspacesSettings(ADDING="direct")


def number() -> int:
    return secrets.randbelow(2**62) + 2**32


def word() -> str:
    return f"acc {secrets.token_hex(8)}"


def uuid_text() -> str:
    return str(uuid.uuid4())


# The column of the application's model, and an id without an account.
ID_TYPES: dict[str, tuple[tuple[Any, Any], Any]] = {
    "integer": ((Integer, None), 999),
    "big": ((BigInteger, number), 999),
    "uuid": ((Uuid, uuid.uuid4), "00000000-0000-4000-8000-000000000000"),
    "uuid-text": ((Uuid(as_uuid=False), uuid_text), "00000000-0000-4000-8000-000000000000"),
    "text": ((String(40), word), "unknown_id"),
}


def account_model(db: SQLAlchemy, kind: str, schema: str | None = None) -> Any:
    type_, default = ID_TYPES[kind][0]
    key = mapped_column("uid", type_, primary_key=True, default=default)
    members = {"__tablename__": "people", "__table_args__": {"schema": schema}, "id": key}
    return type("Account", (AccountMixin, db.Model), members)


def host_at(url: str, kind: str, schema: str | None = None) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(host)
    frontdesk = Frontdesk()
    frontdesk.use_workspaces()
    frontdesk.authenticate(lambda request: request.headers.get("X-User"))
    frontdesk.init_app(
        host,
        db,
        settings=Settings(),
        account_model=account_model(db, kind, schema),
        parts=Parts(file_store=MemoryFileStore(), export_store=MemoryFileStore()),
    )
    for name, path in (
        ("auth", ""),
        ("profiles", "/profiles"),
        ("workspaces", "/workspaces"),
        ("invitations", ""),
        ("exports", ""),
        ("notifications", "/notifications"),
        ("admin_notifications", "/admin/notifications"),
        ("unsubscribe", ""),
        ("docs", ""),
    ):
        host.register_blueprint(getattr(blueprints, name), url_prefix=path)
    return host


def with_tables(host: Flask, schema: str | None = None) -> Flask:
    db = host.extensions["sqlalchemy"]
    with host.app_context():
        if schema is not None:
            with db.engine.begin() as connection:
                connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        db.create_all()
    return host


@pytest.fixture(scope="module", params=ID_TYPES)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def database(kind: str) -> Iterator[tuple[str, DatabaseCleaner]]:
    """On PostgreSQL the accounts are in another schema."""
    with postgres_database(f"frontdesk_ids_{os.getpid()}") as url:
        close_connections(with_tables(host_at(url, kind, SCHEMA), SCHEMA))
        with closing(DatabaseCleaner(url)) as cleaner:
            yield url, cleaner


@pytest.fixture(params=["sqlite", "postgresql"])
def app(request: pytest.FixtureRequest, kind: str) -> Iterator[Flask]:
    if request.param == "sqlite":
        yield with_tables(host_at("sqlite://", kind))
        return
    url, cleaner = request.getfixturevalue("database")
    host = host_at(url, kind, SCHEMA)
    yield host
    close_connections(host)
    cleaner.delete_rows()


def id_in_json(person: Person) -> Any:
    """Return the account's id as clients read and write it."""
    return person.id if isinstance(person.id, int) else str(person.id)


def unknown_id(kind: str) -> Any:
    return ID_TYPES[kind][1]


def test_account_signs_in_and_out_and_resets_its_password(frontdesk: Kit) -> None:
    ada = frontdesk.account("ada")
    api = ada.api()
    assert api.get("/account").json["id"] == id_in_json(ada)
    api.delete("/logout")
    api.get("/account", 401)
    frontdesk.api().post("/password-recovery", json={"email": ada.email})
    for proof in (frontdesk.last_reset_token(ada.email), frontdesk.last_code(ada.email)):
        frontdesk.api().post("/verify-token", json={"token": proof, "email": ada.email})
    new = {"token": frontdesk.last_reset_token(ada.email), "new_password": NEW_PASSWORD}
    frontdesk.api().post("/reset-password", json=new)
    ada.password = NEW_PASSWORD
    assert ada.api().get("/account").json["email"] == ada.email


def test_hook_of_the_application_returns_the_id_as_text(frontdesk: Kit, kind: str) -> None:
    ada, api = frontdesk.account("ada"), frontdesk.api()
    sent = {"X-User": str(id_in_json(ada))}
    assert api.get("/account", headers=sent).json["id"] == id_in_json(ada)
    for unknown in (str(unknown_id(kind)), "x" * 300, "%"):
        api.get("/account", 401, headers={"X-User": unknown})


def test_profile_with_a_picture_is_found_by_account_id(frontdesk: Kit, kind: str) -> None:
    ada, root = frontdesk.account("ada"), frontdesk.account("root", role="root")
    profile = {
        "first_name": "Ada",
        "last_name": "King",
        "date_of_birth": "1815-12-10",
        "gender": "female",
        "marital_status": "married",
    }
    created = ada.api().post("/profiles", json=profile).json
    assert created["account_id"] == id_in_json(ada)
    picture = {"avatar": (BytesIO(plain("PNG")), "a.png")}
    assert ada.api().put("/profiles/avatar", data=picture).json["avatar"]
    assert root.api().get(f"/profiles/{id_in_json(ada)}").json["first_name"] == "Ada"
    changed = root.api().put(f"/profiles/{id_in_json(ada)}", json={"city": "London"}).json
    assert changed["city"] == "London"
    root.api().get(f"/profiles/{unknown_id(kind)}", 404)
    ada.api().delete("/profiles")


def test_workspace_members_are_identified_by_account_id(
    frontdesk: Kit, kind: str, app: Flask
) -> None:
    ada, bob = frontdesk.account("ada"), frontdesk.account("bob")
    api = ada.api()
    member = api.post("/workspaces/ada/members", json={"email": bob.email}).json
    assert member["account_id"] == id_in_json(bob)
    path = f"/workspaces/ada/members/{id_in_json(bob)}"
    assert api.patch(path, json={"type": "guest"}).json["type"] == "guest"
    api.patch(f"/workspaces/ada/members/{unknown_id(kind)}", 404, json={"type": "guest"})
    assert api.delete(path).json["account_id"] == id_in_json(bob)
    api.delete(path, 404)
    with app.test_request_context():
        [entry] = build_entry_rows(service(AuditLog).about_account(bob.id, {"limit": 1}).rows)
    assert (entry["actor"], entry["account"]) == (ada.email, bob.email)


def test_invitation_is_accepted_with_the_token_of_its_email(frontdesk: Kit) -> None:
    ada, bob = frontdesk.account("ada"), frontdesk.account("bob")
    ada.api().post("/workspaces/ada/invitations", 201, json={"email": bob.email})
    [mail] = frontdesk.mails.sent
    token = mail.text.partition("token=")[2].split()[0]
    frontdesk.api().get(f"/invitation?token={token}")
    [waiting] = bob.api().get("/invitations").json
    joined = bob.api().post(f"/invitations/{waiting['id']}/accept").json
    assert joined["account_id"] == id_in_json(bob)


def test_broadcast_reaches_the_selected_accounts(frontdesk: Kit, kind: str) -> None:
    root = frontdesk.account("root", role="root")
    ada, bob, eve = (frontdesk.account(name) for name in ("ada", "bob", "eve"))
    data = {"title": "Hello", "message": "x", "channels": ["inapp", "email"]}
    body = {"data": data, "account_receiver_ids": [id_in_json(ada)]}
    query = {"account_receiver_ids": [id_in_json(bob)]}
    admin = root.api()
    sent = admin.post("/admin/notifications", 201, json=body, query_string=query).json
    assert (sent["receivers"], sent["sender_id"]) == (2, id_in_json(root))
    frontdesk.deliver()
    assert {mail.to for mail in frontdesk.mails.sent} == {ada.email, bob.email}
    [item] = ada.api().get("/notifications").json
    assert (item["receiver_id"], item["sender_id"]) == (id_in_json(ada), id_in_json(root))
    assert eve.api().get("/notifications").json == []
    counts = admin.get(f"/admin/notifications/{sent['id']}").json["deliveries"]["email"]
    assert counts == {"pending": 0, "sent": 2, "failed": 0, "skipped": 0}
    body["account_receiver_ids"] = [id_in_json(ada), unknown_id(kind)]
    rejected = admin.post("/admin/notifications", 422, json=body)
    assert str(unknown_id(kind)) in rejected.response.text


def test_broadcast_to_all_reaches_all_accounts(frontdesk: Kit) -> None:
    root, ada = frontdesk.account("root", role="root"), frontdesk.account("ada")
    data = {"title": "Hello", "message": "x", "channels": ["inapp", "email"]}
    root.api().post("/admin/notifications", 201, json={"data": data})
    frontdesk.deliver()
    assert {mail.to for mail in frontdesk.mails.sent} == {root.email, ada.email}


def test_large_broadcast_reaches_each_account_once(
    frontdesk: Kit, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 2)
    root = frontdesk.account("root", role="root")
    accounts = [root, *(frontdesk.account(f"p{number}") for number in range(6))]
    chosen = [id_in_json(each) for each in accounts[2:]]
    for receivers, expected in (({}, accounts), ({"account_receiver_ids": chosen}, accounts[2:])):
        data = {"title": "Hello", "message": "x", "channels": ["inapp", "email"]}
        with monkeypatch.context() as patch, app.app_context():
            patch.setattr(service(Notifications), "inline_receivers", 3)
            patch.delitem(service(Worker).tasks, EXPAND_BROADCASTS)
            response = root.api().post("/admin/notifications", 201, json={"data": data} | receivers)
            late = frontdesk.account(f"late{len(expected)}")
        sent = response.json
        assert sent["receivers"] == len(expected)
        frontdesk.deliver()
        assert sorted(mail.to for mail in frontdesk.mails.sent) == sorted(
            each.email for each in expected
        )
        frontdesk.mails.sent.clear()
        for each in accounts:
            inbox = each.api().get("/notifications").json
            found = [item for item in inbox if item["notification_id"] == sent["id"]]
            assert len(found) == (each in expected)
        assert late.api().get("/notifications").json == []
        assert app.test_cli_runner().invoke(args=["accounts", "delete", late.email]).exit_code == 0


def test_choices_of_recipients_are_stored_and_apply(
    frontdesk: Kit, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ada, bob = (frontdesk.account(each, role="root") for each in ("root", "ada", "bob"))
    with app.app_context():
        subscription = Subscription(ada.id, "announcements", "email")
        token = service(UnsubscribeTokens).write(subscription)
    frontdesk.api().post(f"/unsubscribe/{token}")
    preferences = ada.api().get("/notifications/preferences").json["kinds"]
    assert [kind["channels"]["email"] for kind in preferences if not kind["mandatory"]] == [False]
    data = {"title": "Hello", "message": "x", "channels": ["inapp", "email"]}
    question = {"channels": ["email"], "kind": "announcements"}
    reach = root.api().post("/admin/notifications/reach", json=question).json["channels"]["email"]
    assert reach == {"reached": 2, "left_out": [{"reason": "Opted out", "receivers": 1}]}
    for inline_receivers in (3, 2):
        with app.app_context():
            monkeypatch.setattr(service(Notifications), "inline_receivers", inline_receivers)
        root.api().post("/admin/notifications", 201, json={"data": data})
        off = {"kinds": {"announcements": {"email": False}}}
        bob.api().put("/notifications/preferences", json=off)
        frontdesk.deliver()
        assert {mail.to for mail in frontdesk.mails.sent} == {root.email}
        off["kinds"]["announcements"]["email"] = True
        bob.api().put("/notifications/preferences", json=off)
        frontdesk.mails.sent.clear()


def test_delayed_email_is_sent_to_those_who_have_not_read_it(frontdesk: Kit, app: Flask) -> None:
    ada, bob = frontdesk.account("ada"), frontdesk.account("bob")
    with app.app_context():
        Frontdesk().notify("Hello", "x", channels=["inapp", "email"], email_if_unread=5)
    ada.api().patch("/notifications/mark-all?status=true")
    frontdesk.clock.step(minutes=5)
    frontdesk.deliver()
    assert [mail.to for mail in frontdesk.mails.sent] == [bob.email]


def test_inbox_is_read_marked_and_emptied(frontdesk: Kit) -> None:
    root, ada = frontdesk.account("root", role="root"), frontdesk.account("ada")
    data = {"title": "Hello", "message": "x", "channels": ["inapp"]}
    root.api().post("/admin/notifications", 201, json={"data": data})
    api = ada.api()
    [item] = api.get("/notifications").json
    assert api.patch(item["links"]["mark"]).json["is_read"] is True
    assert api.get("/notifications/unread-count").json == {"unread": 0, "unseen": 0}
    api.patch("/notifications/mark-all?status=false")
    assert api.get("/notifications?is_read=false").json[0]["id"] == item["id"]
    api.delete(item["links"]["delete"])
    assert api.get("/notifications").json == []
    assert len(root.api().get("/notifications").json) == 1


def test_deleting_an_account_deletes_its_rows(frontdesk: Kit, app: Flask) -> None:
    root, ada = frontdesk.account("root", role="root"), frontdesk.account("ada")
    data = {"title": "Hello", "message": "x", "channels": ["inapp"]}
    sent = root.api().post("/admin/notifications", 201, json={"data": data}).json
    run = app.test_cli_runner()
    listed = run.invoke(args=["accounts", "list"]).output.splitlines()
    assert {json.loads(line)["id"] for line in listed} == {id_in_json(root), id_in_json(ada)}
    assert run.invoke(args=["accounts", "delete", ada.email]).exit_code == 0
    assert len(run.invoke(args=["accounts", "list"]).output.splitlines()) == 1
    assert root.api().get(f"/admin/notifications/{sent['id']}").json["receivers"] == 2


@pytest.fixture
def root(frontdesk: Kit) -> Api:
    return frontdesk.account("root", role="root").api()


@for_each("invalid", ["-", "0x1", "1e3", "{00000000-0000-4000-8000-000000000000}"])
def test_invalid_id_is_not_found(root: Api, invalid: str) -> None:
    root.get(f"/profiles/{invalid}", 404)
    data = {"title": "Hello", "message": "x", "channels": ["inapp"]}
    body = {"data": data, "account_receiver_ids": [invalid]}
    root.post("/admin/notifications", 422, json=body)


@for_each("number", [2**31, 2**40, 2**63, 2**70, -1, "x" * 300, "\x00", "", None, 1.5])
def test_id_out_of_range_is_rejected(root: Api, number: Any) -> None:
    data = {"title": "Hello", "message": "x", "channels": ["inapp"]}
    body = {"data": data, "account_receiver_ids": [number]}
    root.post("/admin/notifications", 422, json=body)


def test_openapi_document_has_the_type_of_ids(frontdesk: Kit, kind: str) -> None:
    document = frontdesk.api().get("/openapi.json").json
    parameters = document["paths"]["/profiles/{account_id}"]["get"]["parameters"]
    [schema] = [each["schema"] for each in parameters if each["in"] == "path"]
    expected: dict[str, Any] = {"type": "string"}
    if kind in ("integer", "big"):
        expected = {"type": "integer", "minimum": 1}
    elif kind.startswith("uuid"):
        expected["format"] = "uuid"
    assert schema == expected
    shown = document["components"]["schemas"]["AccountRead"]["properties"]["id"]
    assert shown["type"] == expected["type"]
    [example] = [
        content["example"]
        for content in document["paths"]["/account"]["get"]["responses"]["200"]["content"].values()
    ]
    assert isinstance(example["id"], int) is (expected["type"] == "integer")


def test_unsupported_id_type_is_rejected() -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    key = mapped_column(LargeBinary(16), primary_key=True)
    model = type("Account", (AccountMixin, db.Model), {"id": key})
    with pytest.raises(SetupError, match=r"an id of type LargeBinary.*supports integers, UUIDs"):
        Frontdesk().init_app(host, db, account_model=model)


def test_data_export_has_only_the_accounts_data(app: Flask, frontdesk: Kit) -> None:
    ada, bob = frontdesk.account("ada", role="admin"), frontdesk.account("bob")
    data = {"title": "Hello", "message": "x", "channels": ["inapp", "email"]}
    for receiver in (ada, bob):
        body = {"data": data, "account_receiver_ids": [id_in_json(receiver)]}
        ada.api().post("/admin/notifications", 201, json=body)
    export_id = ada.api().post("/account/exports", 202, json={}).json["id"]
    frontdesk.deliver()
    response = ada.api().get(f"/account/exports/{export_id}/file")
    archive = ZipFile(BytesIO(response.response.get_data()))
    assert json.loads(archive.read("account.json"))["id"] == id_in_json(ada)
    counts = {name: archive.read(name).count(b"\n") for name in archive.namelist()}
    assert (counts["inbox.jsonl"], counts["deliveries.jsonl"], counts["sent.jsonl"]) == (1, 1, 2)
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    assert list(app.extensions["frontdesk"].parts["export_store"].files()) == []
