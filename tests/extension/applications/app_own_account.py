"""An application with its own account model, schemas, hooks and error handlers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import jwt
import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, fields, validate
from sqlalchemy import ForeignKey, String, func, select
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from app import (
    AccountMixin,
    AuthSettings,
    CoreSettings,
    Frontdesk,
    LoginRead,
    Schemas,
    account_required,
    active_account_required,
    after_commit,
    current_account,
    superuser_required,
)
from app.blueprints import auth, docs, tasks
from app.testing.client import Api
from app.testing.database import noted_queries, rolled_back
from app.testing.kit import Kit
from app.testing.people import PASSWORD

from ...rigs.backends import postgres_database

NEW_PASSWORD = "a password never seen before"

db = SQLAlchemy()


class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    last_login_date = None
    nickname: Mapped[str | None] = mapped_column(String(50))
    _secret: Mapped[str | None] = mapped_column("secret", String(50))
    portrait: Mapped[str | None] = deferred(mapped_column(String(500)))
    visits: Mapped[list[Visit]] = relationship(order_by="Visit.id")


class Visit(db.Model):  # type: ignore[misc, name-defined]
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    note: Mapped[str] = mapped_column(String(200))


class AccountCard(Schema):
    email = fields.String(required=True)
    nickname = fields.String(required=True, allow_none=True)
    visits = fields.Pluck("VisitRead", "note", many=True)


class VisitRead(Schema):
    note = fields.String()


class CustomLoginRead(LoginRead):
    greeting = fields.String(required=True)


class StrictTask(Schema):
    title = fields.String(required=True, validate=validate.Length(min=5))
    priority = fields.String(validate=validate.OneOf(["low", "high"]), load_default="low")


class Settings:
    SECRET_KEY = "a key of the host's own, long enough for it"
    CORE = CoreSettings(PROJECT_NAME="Own", LOG_LEVEL="ERROR")
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, ACTIVE_STATUSES=["fresh"])


class HookCalls:
    """The calls of hooks and listeners, in order."""

    def __init__(self) -> None:
        self.mails: list[dict[str, str]] = []
        self.events: list[str] = []
        self.abort = False


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        yield "sqlite://"
        return
    with postgres_database(f"frontdesk_own_{os.getpid()}") as created:
        yield created


@pytest.fixture(scope="module")
def host(url: str) -> Iterator[tuple[Flask, Frontdesk, HookCalls]]:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = url
    db.init_app(host)
    frontdesk, calls = Frontdesk(), HookCalls()
    decide(frontdesk, calls)
    frontdesk.event("joined")
    frontdesk.init_app(
        host,
        db,
        settings=Settings,
        account_model=Account,
        schemas=Schemas(
            account=AccountCard,
            login=CustomLoginRead,
            task_create=StrictTask,
            task_update=StrictTask,
        ),
    )
    host.register_blueprint(auth, url_prefix="/in")
    host.register_blueprint(tasks, url_prefix="/chores")
    host.register_blueprint(docs, url_prefix="/api")
    add_views(host, frontdesk)
    with host.app_context():
        db.create_all()
    yield host, frontdesk, calls
    with host.app_context():
        db.drop_all()
        for engine in db.engines.values():
            engine.dispose()


def decide(frontdesk: Frontdesk, calls: HookCalls) -> None:
    @frontdesk.claims
    def claims(account: Any, session: Any) -> Mapping[str, Any]:
        return {"role": account.role, "sub": "bob@example.com", "nickname": account.nickname}

    @frontdesk.payload
    def payload(given: dict[str, Any], session: Any) -> Mapping[str, Any]:
        visits = session.scalar(select(func.count()).select_from(Visit))
        return {**given, "greeting": f"visit {visits}", "dropped": True}

    @frontdesk.recovery_mail
    def recovery_mail(**mail: str) -> None:
        calls.mails.append(mail)

    @frontdesk.on("account-registered")
    def registered(account: Any, options: dict[str, Any]) -> None:
        calls.events.append(f"registered {account.email} {account.nickname}")

    @frontdesk.on("account-logged-in")
    def logged_in(account: Any, options: dict[str, Any]) -> None:
        session = options["session"]
        session.add(Visit(account_id=account.id, note="signed in"))
        after_commit(session, lambda: calls.events.append("committed"))
        calls.events.append("logged in")
        if calls.abort:
            raise LookupError("the host says no")


def add_views(host: Flask, frontdesk: Frontdesk) -> None:
    @host.get("/own")
    @active_account_required
    def own() -> dict[str, Any]:
        """A view of the application"""
        visits = [visit.note for visit in current_account.visits]  # type: ignore[attr-defined]
        return {"nickname": current_account.nickname, "visits": visits}  # type: ignore[attr-defined]

    @host.put("/own/<int:number>")
    @account_required
    def rename(number: int) -> dict[str, Any]:
        current_account.nickname = f"number {number}"  # type: ignore[attr-defined]
        db.session.commit()
        return {"nickname": current_account.nickname}  # type: ignore[attr-defined]

    @host.get("/cellar")
    @superuser_required
    def cellar() -> str:
        return "wine"

    @host.post("/join")
    def join() -> tuple[dict[str, Any], int]:
        with frontdesk.transaction():
            account = frontdesk.accounts.create(
                "new@example.com", "battery staple", status="fresh", nickname="New"
            )
            db.session.add(Visit(account_id=account.id, note="joined"))
        listeners = frontdesk.emit("joined", account)
        return {"id": account.id, "listeners": listeners}, 201

    @host.errorhandler(401)
    @host.errorhandler(404)
    def handle_error(error: Any) -> tuple[str, int]:
        return "the application's error page", error.code


@pytest.fixture
def app(host: tuple[Flask, Frontdesk, HookCalls]) -> Iterator[Flask]:
    """One application for all tests of the file; each test's writes are rolled back."""
    with rolled_back(host[0]):
        yield host[0]


@pytest.fixture
def calls(host: tuple[Flask, Frontdesk, HookCalls]) -> HookCalls:
    host[2].__init__()  # type: ignore[misc]
    return host[2]


def log_in(app: Flask, status: int = 200) -> Any:
    form = {"username": "ada@example.com", "password": PASSWORD}
    return Api(app, "/in").post("/login", status, data=form)


def test_application_payload_hook_changes_the_login_response(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    frontdesk.account("ada", status="fresh", nickname="Countess", role="admin")
    response = log_in(app).json
    assert response["account"] == {
        "email": "ada@example.com",
        "nickname": "Countess",
        "visits": ["signed in"],
    }
    assert response["greeting"] == "visit 1"
    assert "dropped" not in response
    claims = jwt.decode(response["access_token"], options={"verify_signature": False})
    assert (claims["sub"], claims["role"]) == ("ada@example.com", "admin")
    assert calls.events == ["registered ada@example.com Countess", "logged in", "committed"]


def test_only_the_applications_statuses_are_active(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    frontdesk.account("ada", status="active")
    assert log_in(app, 400).detail == "Inactive account"


def test_listener_that_raises_rolls_the_request_back(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    ada = frontdesk.account("ada", status="fresh")
    calls.abort = True
    log_in(app, 500)
    assert "committed" not in calls.events
    calls.abort = False
    assert ada.api().get("/own").json["visits"] == ["signed in"]


def test_account_is_serialized_by_the_applications_schema(frontdesk: Kit, calls: HookCalls) -> None:
    ada = frontdesk.account("ada", status="fresh")
    assert set(ada.api().get("/in/account").json) == {"email", "nickname", "visits"}


def test_recovery_mail_hook_sends_the_code(frontdesk: Kit, calls: HookCalls) -> None:
    frontdesk.account("ada", status="fresh")
    api = frontdesk.api("/in")
    api.post("/password-recovery", json={"email": "ADA@example.com"})
    (mail,) = calls.mails
    assert mail["code"] == frontdesk.last_code("ada@example.com")
    assert mail["token"] == frontdesk.last_reset_token("ada@example.com")
    frontdesk.mails.assert_empty()
    body = {"token": mail["code"], "email": "ada@example.com", "new_password": NEW_PASSWORD}
    frontdesk.clock.step(minutes=11)
    api.post("/reset-password", 400, json=body)
    body["token"] = mail["token"]
    api.post("/reset-password", json=body)
    frontdesk.mails.assert_sent("ada@example.com", subject="password was changed")


def test_task_schemas_of_the_application_apply(frontdesk: Kit, app: Flask) -> None:
    api = Api(app, "/chores")
    assert api.post("/", 422, json={"title": "x"}).faults == ["json:title"]
    created = api.post("/", 201, json={"title": "Water the plants"}).json
    assert created["priority"] == "low"
    api.patch(f"/{created['id']}", 422, json={"title": "Water them", "priority": "urgent"})


def test_decorator_on_an_application_view_responds_with_a_problem(
    frontdesk: Kit, calls: HookCalls
) -> None:
    response = frontdesk.api().get("/own", 401)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert frontdesk.api().get("/nowhere", 404).response.text == "the application's error page"
    ada = frontdesk.account("ada", status="fresh")
    assert ada.api().get("/cellar", 403).detail == "Not authorized"


def test_application_view_reads_and_changes_the_account(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    api = frontdesk.account("ada", status="fresh", nickname="Ada").api()
    assert api.get("/own").json == {"nickname": "Ada", "visits": ["signed in"]}
    assert api.put("/own/9").json == {"nickname": "number 9"}
    assert api.get("/own").json["nickname"] == "number 9"


def test_deferred_column_is_not_loaded_for_each_request(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    api = frontdesk.account("ada", status="fresh").api()
    with noted_queries(app) as queries:
        api.put("/own/1")
    assert not [query for query in queries if "portrait" in query], queries


def test_application_view_creates_an_account_in_its_transaction(
    frontdesk: Kit, app: Flask, calls: HookCalls
) -> None:
    assert frontdesk.api().post("/join", 201).json["listeners"] == 0
    assert calls.events == ["registered new@example.com New"]
    frontdesk.api().post("/join", 409)
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Visit)) == 1


def test_openapi_document_has_the_applications_views(frontdesk: Kit) -> None:
    paths = frontdesk.api("/api").get("/openapi.json").json["paths"]
    assert paths["/own"]["get"]["summary"] == "A view of the application"
    assert set(paths["/own"]["get"]["responses"]) >= {"401", "404"}
    (number,) = paths["/own/{number}"]["put"]["parameters"]
    assert number["schema"]["type"] == "integer"
    assert "/join" not in paths


def test_account_has_its_creation_time(frontdesk: Kit, app: Flask, calls: HookCalls) -> None:
    frontdesk.account("ada", status="fresh")
    with app.app_context():
        account = db.session.scalars(select(Account)).one()
        assert isinstance(account.created_at, datetime)
        assert not hasattr(Account.__table__.c, "last_login_date")
