"""Each action has one audit log entry in its transaction, without secrets."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask

from app.accounts.actions import ACCOUNT_UNLOCKED, ACCOUNT_VERIFIED
from app.auth.actions import LOGOUT_SUCCEEDED
from app.auth.errors import IncorrectCredentials
from app.core.context import current_frontdesk, report_action
from app.core.db.transaction import transaction
from app.core.errors import SetupError
from app.extension.actions import ACTIONS
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..auth.test_limits import from_address
from ..auth.test_login import listen_to, log_in
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from .all_actions import SETTINGS, AllActions
from .entries import records, types


@pytest.fixture
def walked(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock, tmp_path: Path
) -> tuple[Flask, AllActions]:
    app = make_app(**SETTINGS, AUTH__EXPORT_FOLDER=str(tmp_path / "exports"))
    walk = AllActions(app, mails, clock)
    walk.all(make_app(), tmp_path)
    return app, walk


def test_every_action_is_recorded_without_secrets(walked: tuple[Flask, AllActions]) -> None:
    app, walk = walked
    found = records(app)
    assert {each.type for each in found} == set(ACTIONS)
    for each in found:
        # Every action of a program names its token.
        assert set(each.data) - {"token"} <= set(ACTIONS[each.type].data)
    columns = _written(found)
    assert [secret for secret in walk.secrets if secret in columns] == []
    assert "@example.com" not in columns


def _written(found: list[Any]) -> str:
    rows = [{c.name: getattr(each, c.name) for c in each.__table__.columns} for each in found]
    return orjson.dumps(rows, default=str).decode()


def test_each_action_has_one_entry(walked: tuple[Flask, AllActions]) -> None:
    app, _ = walked
    [zoe] = {each.account_id for each in records(app, type="identity.linked")}
    assert Counter(types(app, account_id=zoe)) == {
        "account.created": 1,
        "workspace.created": 1,
        "identity.linked": 1,
        "identity.grant_kept": 1,
        "account.updated": 2,
        "account.unlocked": 1,
        "login.link_created": 1,
        "tokens.ended": 1,
        "identity.unlinked": 1,
        "account.deleted": 1,
        "workspace.deleted": 1,
    }


def test_entry_has_actor_action_and_client(app: Flask, ada: Person) -> None:
    headers = {"X-Request-ID": "call-7", "User-Agent": "A browser " + "x" * 300}
    log_in(from_address(app, "203.0.113.9"), ada.email, PASSWORD, headers=headers)
    [found] = records(app, type="login.succeeded")
    assert (found.actor_kind, found.actor_id, found.account_id) == ("account", ada.id, ada.id)
    assert (found.address, found.request_id) == ("203.0.113.9", "call-7")
    assert found.user_agent is not None
    assert found.user_agent.startswith("A browser xxx")
    assert (found.data, found.at.tzinfo is not None) == ({"proofs": ["password"]}, True)


def test_operator_actions_have_their_actor_kind(app: Flask, ada: Person) -> None:
    invoke = app.test_cli_runner().invoke
    invoke(args=["accounts", "set", ada.email, "--role", "admin", "--status", "online"])
    [found] = records(app, type="account.updated")
    assert (found.actor_kind, found.actor_id, found.account_id) == ("cli", None, ada.id)
    assert found.data == {
        "changed": ["role", "status"],
        "before": {"role": "user", "status": "active"},
        "after": {"role": "admin", "status": "online"},
    }


def test_member_change_names_both_accounts_and_the_workspace(
    app: Flask, person: MakePerson
) -> None:
    olga, bob = person("olga"), person("bob")
    boss = olga.api()
    boss.post("/workspaces", json={"name": "Team", "slug": "team"})
    app.test_cli_runner().invoke(args=["workspaces", "add", "team", bob.email])
    boss.patch(f"/workspaces/team/members/{bob.id}", json={"type": "guest"})
    [created] = records(app, type="workspace.created", actor_id=olga.id)
    [found] = records(app, type="member.updated")
    assert (found.actor_id, found.account_id) == (olga.id, bob.id)
    assert found.workspace_id == created.workspace_id
    assert (found.data["before"]["type"], found.data["after"]["type"]) == ("member", "guest")


def test_rolled_back_action_has_no_entry(app: Flask, ada: Person) -> None:
    def reject(*_: object) -> None:
        raise IncorrectCredentials

    before = types(app)
    listen_to(app, "account-logged-in", reject)
    log_in(Api(app), ada.email, PASSWORD, 400)
    assert types(app) == [*before, "login.failed"]


def test_rolled_back_savepoint_has_no_entry(app: Flask, ada: Person) -> None:
    with app.app_context(), transaction(current_frontdesk.session):
        session = current_frontdesk.session
        report_action(session, ACCOUNT_UNLOCKED, account_id=ada.id)
        with suppress(ZeroDivisionError), transaction(session, may_fail=True):
            report_action(session, ACCOUNT_VERIFIED, account_id=ada.id)
            raise ZeroDivisionError
        with transaction(session, may_fail=True):
            report_action(session, LOGOUT_SUCCEEDED, account_id=ada.id)
    assert types(app)[-2:] == ["account.unlocked", "logout.succeeded"]


def test_disabled_audit_log_stores_nothing(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUDIT__EVENTS="false")
    ada = person("ada", into=app)
    log_in(Api(app), ada.email, "wrong", 400)
    ada.api().delete("/logout")
    assert types(app) == []


@pytest.mark.parametrize("name", ["logout.forgotten", "login.succeeded"])
def test_unlisted_action_is_rejected(app: Flask, name: str) -> None:
    with app.app_context():
        session = current_frontdesk.session
        with pytest.raises(SetupError, match="type"), transaction(session):
            report_action(session, current_frontdesk.actions.find(name), password="x")


def test_entry_belongs_to_the_transaction(app: Flask) -> None:
    with app.app_context(), pytest.raises(RuntimeError, match="in the transaction"):
        report_action(current_frontdesk.session, LOGOUT_SUCCEEDED)
