"""What ends personal tokens, what does not, and the rows that stay afterwards."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.tokens.models import PersonalToken

from ..auth.test_recovery import NEW, ask, reset
from ..cli.test_command_line import run
from ..cli.test_prune import run as prune
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from .conftest import MakeToken, Program


class TestTokenEnds:
    """Events that end the tokens of an account for good."""

    @pytest.fixture(autouse=True)
    def _assert_ended(self, ada: Person, person: MakePerson, program: Program) -> Iterator[None]:
        tokens, other = [program(ada), program(ada)], program(person("bob"))
        yield
        for each in tokens:
            assert each.get("/account", 401).json["reason"] in ("revoked", "invalid")
        other.get("/account")

    def test_password_reset(self, api: Api, mails: MailOutbox) -> None:
        mails.clear()
        token, _ = ask(api, mails)
        reset(api, token)

    def test_suspension_by_an_admin(self, ada: Person, person: MakePerson) -> None:
        admin = person("boss", role="admin").api()
        admin.patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
        admin.patch(f"/admin/accounts/{ada.id}", json={"status": "active"})

    def test_suspension_by_command(self, app: Flask) -> None:
        run(app, "accounts", "set", "ada@example.com", "--status", "suspended")
        run(app, "accounts", "set", "ada@example.com", "--status", "active")

    def test_sign_out_by_an_admin(self, ada: Person, person: MakePerson) -> None:
        person("boss", role="admin").api().post(f"/admin/accounts/{ada.id}/sign-out")

    def test_sign_out_by_command(self, app: Flask) -> None:
        run(app, "accounts", "sign-out", "ada@example.com")

    def test_account_deletion(self, app: Flask) -> None:
        run(app, "accounts", "delete", "ada@example.com")

    def test_reclaim(self, app: Flask, ada: Person) -> None:
        with app.app_context(), transaction(current_frontdesk.session):
            service(Accounts).reclaim(service(Accounts).get(ada.email))


def test_requested_deletion_ends_all_tokens_for_good(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__ACCOUNT_DELETION="on")
    ada = person("ada", into=app)
    body = {"name": "Deploy", "scopes": ["account:read"]}
    token = ada.api().post("/personal-tokens", 201, json=body).json["token"]
    ada.api().delete("/account", 202)
    restore = re.search(r"token=([\w.-]+)", mails.last(ada.email).text)
    assert restore is not None
    Api(app).post("/account/restore", json={"token": restore[1]})
    assert Api(app, token=token).get("/account", 401).json["reason"] == "revoked"


def test_sign_out_of_all_accounts_ends_all_tokens(
    app: Flask, ada: Person, person: MakePerson, program: Program
) -> None:
    tokens = [program(ada), program(person("bob"))]
    run(app, "accounts", "sign-out", "--all")
    for each in tokens:
        assert each.get("/account", 401).json["reason"] == "revoked"


class TestTokenStays:
    """Events after which the owner's tokens are still valid."""

    @pytest.fixture(autouse=True)
    def _assert_valid(self, ada: Person, program: Program) -> Iterator[None]:
        token = program(ada)
        yield
        token.get("/account")

    def test_sign_out(self, ada: Person) -> None:
        ada.api().delete("/logout")

    def test_password_change(self, ada: Person) -> None:
        body = {"current_password": PASSWORD, "new_password": NEW}
        ada.api().put("/account/password", json=body)

    def test_change_of_email_address_and_role(self, ada: Person) -> None:
        ada.change(email="countess@example.com", role="admin")


def test_reclaim_keeps_tokens_from_before_the_owner_lost_control(
    app: Flask, ada: Person, program: Program, clock: SteppingClock
) -> None:
    earlier = program(ada)
    clock.step(hours=1)
    since = clock.now()
    later = program(ada)
    with app.app_context(), transaction(current_frontdesk.session):
        service(Accounts).reclaim(service(Accounts).get(ada.email), since)
    earlier.get("/account")
    later.get("/account", 401)


def test_ends_are_audited(
    app: Flask, ada: Person, person: MakePerson, make_token: MakeToken
) -> None:
    tokens = [make_token(ada)["id"] for _ in range(3)]
    ada.api().delete(f"/personal-tokens/{tokens[0]}")
    root = person("root", role="root").api()
    root.delete(f"/admin/accounts/{ada.id}/personal-tokens/{tokens[1]}")
    run(app, "accounts", "set", "ada@example.com", "--status", "suspended")
    entries = root.get("/admin/events", query_string={"type": "personal_token.ended"}).json
    found = [(each["data"]["reason"], each["actor_id"], each["account_id"]) for each in entries]
    root_id = max(actor_id for _, actor_id, _ in found if actor_id)
    assert found == [
        ("suspension", None, ada.id),
        ("operator", root_id, ada.id),
        ("owner", ada.id, ada.id),
    ]


def test_ended_tokens_are_pruned_after_a_month(
    app: Flask, ada: Person, make_token: MakeToken, clock: SteppingClock
) -> None:
    ended, expired = (make_token(ada, days=days)["id"] for days in (366, 1))
    make_token(ada, days=366)
    ada.api().delete(f"/personal-tokens/{ended}")
    for days, count in ((29, 0), (1, 1), (1, 1), (1, 0)):
        clock.step(days=days, seconds=1)
        assert prune(app, "frontdesk", "prune")["personal_tokens"] == count
    with app.app_context():
        session = current_frontdesk.session
        assert expired not in [each.id for each in session.query(PersonalToken)]


def test_data_export_lists_tokens_without_digests(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine, make_token: MakeToken
) -> None:
    app = make_app(AUTH__PERSONAL_TOKENS="on", AUTH__ACCOUNT_EXPORTS="on")
    bob = person("bob", into=app)
    make_token(bob, "account:read", "profiles:read")
    api = bob.api()
    export_id = api.post("/account/exports", 202, json={"password": PASSWORD}).json["id"]
    engine.deliver()
    file = api.get(f"/account/exports/{export_id}/file").response.get_data()
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        [line] = archive.read("personal_tokens.jsonl").decode().splitlines()
    exported = json.loads(line)
    assert exported["scopes"] == "account:read profiles:read"
    assert "digest" not in exported
