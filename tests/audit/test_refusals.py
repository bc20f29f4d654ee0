"""Rejected requests are recorded, in part during a flood, without effect on responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import text

from app import Frontdesk, roles_required, workspace_required
from app.accounts.account import Account, ServiceBase
from app.auth.errors import NotAuthorized
from app.core.context import current_frontdesk
from app.core.security_log import MAX_PER_SOURCE
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.people import make_person

from ..auth.test_limits import from_address
from ..auth.test_login import log_in
from ..conftest import MakeApp, MakePerson, Person
from ..rigs.hosts import HostSettings
from .entries import records, types

WRONG = "a wrong password"


def test_wrong_password_is_recorded_with_account_and_ip_address(app: Flask, ada: Person) -> None:
    log_in(from_address(app, "203.0.113.66"), ada.email, WRONG, 400)
    [found] = records(app, type="login.failed")
    assert (found.account_id, found.actor_kind, found.actor_id) == (ada.id, "anonymous", None)
    assert found.address == "203.0.113.66"
    assert found.data == {
        "reason": "incorrect_credentials",
        "method": "POST",
        "route": "/api/v1/login",
    }


def test_unknown_email_is_not_recorded(api: Api, app: Flask) -> None:
    log_in(api, "unknown@example.com", WRONG, 400)
    [found] = records(app, type="login.failed")
    assert (found.account_id, "unknown@" in str(found.data)) == (None, False)


def test_denied_role_and_rate_limit_are_recorded(app: Flask, api: Api, ada: Person) -> None:
    ada.api().get("/admin/notifications/all", 403)
    [rejected] = records(app, type="access.refused")
    assert (rejected.account_id, rejected.data["reason"]) == (ada.id, "not_authorized")
    for status in (400, 400, 400, 400, 400, 429):
        log_in(api, ada.email, WRONG, status)
    [limit] = records(app, type="limit.reached")
    assert limit.data["limit"] == "login-300"


def test_workspace_is_recorded_with_the_rejections_of_its_members_and_of_admins(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    def reject(workspace_slug: str) -> str:
        raise NotAuthorized

    view = workspace_required(reject)
    for name, guarded in (("any", view), ("admin", roles_required("admin")(view))):
        app.add_url_rule(f"/api/v1/{name}/<workspace_slug>", name, guarded)
    ada.api().post("/workspaces", json={"name": "Team", "slug": "team"})
    created = records(app, type="workspace.created")[-1].workspace_id
    admin = person("staff", role="admin")
    for each, path in ((ada, "any"), (ada, "admin"), (admin, "any"), (admin, "admin")):
        each.api().get(f"/{path}/team", 403)
    found = [(each.actor_id, each.workspace_id) for each in records(app, type="access.refused")]
    # The role of the second request was rejected before its workspace was known.
    assert found == [(ada.id, created), (ada.id, None), (admin.id, None), (admin.id, created)]


def test_invalid_input_is_not_recorded(app: Flask, api: Api) -> None:
    api.get("/account", 401)
    api.post("/login", 422, data={"username": "x"})
    assert types(app) == []


def test_flood_is_recorded_in_part_with_the_dropped_count(
    make_app: MakeApp, ada: Person, clock: SteppingClock
) -> None:
    app = make_app(AUTH__RATE_LIMITS_ENABLED="false")
    flood, other = from_address(app, "203.0.113.66"), from_address(app, "203.0.113.9")
    for _ in range(MAX_PER_SOURCE + 7):
        log_in(flood, ada.email, WRONG, 400)
    log_in(other, ada.email, WRONG, 400)
    assert len(records(app, type="login.failed")) == MAX_PER_SOURCE + 1
    clock.step(minutes=2)
    log_in(other, ada.email, WRONG, 400)
    counted, last = records(app, type="login.failed")[-2:]
    assert (counted.address, counted.data) == ("203.0.113.66", {"left_out": 7})
    assert (counted.account_id, counted.actor_kind) == (None, "anonymous")
    assert last.address == "203.0.113.9"


def test_rejection_is_returned_if_it_cannot_be_recorded(
    app: Flask, api: Api, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    with app.app_context():
        current_frontdesk.session.execute(text("ALTER TABLE frontdesk_events RENAME TO gone"))
        current_frontdesk.session.commit()
    try:
        log_in(api, ada.email, WRONG, 400)
    finally:
        with app.app_context():
            current_frontdesk.session.execute(text("ALTER TABLE gone RENAME TO frontdesk_events"))
            current_frontdesk.session.commit()
    assert "Cannot write the audit log entry of a rejected request" in caplog.text


@pytest.mark.parametrize(("writes", "recorded"), [(False, 1), (True, 0)])
def test_applications_open_transaction_is_unchanged(
    writes: bool, recorded: int, tmp_path: Path
) -> None:
    """SQLite has one writer: during an open write of the application, no entry is stored."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{tmp_path}/host.db"
    db = SQLAlchemy(host, model_class=ServiceBase)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
    committed: list[Any] = []

    @host.before_request
    def begin() -> None:
        account = db.session.get(Account, 1)
        if writes and account is not None:
            account.phone = "+12025550123"
            db.session.flush()

    @host.teardown_request
    def end(_: object) -> None:
        db.session.commit()
        committed.append(db.session.get(Account, 1))

    @host.get("/vault")
    @roles_required("root")
    def vault() -> str:
        return "gold"

    with host.app_context():
        db.create_all()
    ada = make_person(host, "ada")
    ada.api().get("/vault", 403)
    assert len(records(host, type="access.refused")) == recorded
    assert committed[-1].phone == ("+12025550123" if writes else None)
