"""Events that end all sessions of an account, and the rows that stay afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..cli.test_command_line import run
from ..cli.test_prune import run as prune
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from .test_recovery import NEW, ask, reset
from .test_sessions import FIREFOX, IPHONE, is_in, listed, sid, sign_in


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__SESSIONS="on")


@pytest.fixture
def laptop(api: Api, ada: Person) -> Api:
    return sign_in(api, FIREFOX)


@pytest.fixture
def phone(api: Api, ada: Person) -> Api:
    return sign_in(api, IPHONE)


class TestAllSessionsEnd:
    """Events that revoke tokens end all sessions, permanently."""

    @pytest.fixture(autouse=True)
    def _assert_all_ended(self, api: Api, laptop: Api, phone: Api) -> Iterator[None]:
        yield
        assert not is_in(laptop)
        assert not is_in(phone)

    def test_logout(self, api: Api, laptop: Api, phone: Api) -> None:
        laptop.delete("/logout")
        phone.get("/account", 401)
        assert [each["current"] for each in listed(sign_in(api))] == [True]

    def test_password_change_starts_one_new_session(self, laptop: Api) -> None:
        body = {"current_password": PASSWORD, "new_password": NEW}
        token = laptop.put("/account/password", json=body).json["access_token"]
        assert [each["current"] for each in listed(laptop.as_token(token))] == [True]

    def test_password_reset(self, api: Api, mails: MailOutbox, laptop: Api) -> None:
        token, _ = ask(api, mails)
        reset(api, token)
        assert len(listed(sign_in(api, password=NEW))) == 1

    def test_email_change(self, api: Api, laptop: Api, mails: MailOutbox) -> None:
        new = {"email": "countess@example.com", "password": PASSWORD}
        laptop.post("/account/email", 202, json=new)
        token = mails.last("countess@example.com").text.partition("token=")[2].split()[0]
        body = {"token": token, "password": PASSWORD}
        answer = api.post("/account/email/confirm", json=body).json
        assert [each["current"] for each in listed(api.as_token(answer["access_token"]))] == [True]

    def test_suspension_by_an_admin(self, ada: Person, person: MakePerson) -> None:
        admin = person("boss", role="admin").api()
        admin.patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
        admin.patch(f"/admin/accounts/{ada.id}", json={"status": "active"})

    def test_suspension_by_command(self, app: Flask) -> None:
        run(app, "accounts", "set", "ada@example.com", "--status", "suspended")
        run(app, "accounts", "set", "ada@example.com", "--status", "active")

    def test_sign_out_by_an_admin(self, ada: Person, person: MakePerson, api: Api) -> None:
        admin = person("boss", role="admin").api()
        admin.post(f"/admin/accounts/{ada.id}/sign-out")
        assert is_in(sign_in(api))

    def test_sign_out_by_command(self, app: Flask) -> None:
        run(app, "accounts", "sign-out", "ada@example.com")

    def test_sign_out_of_all_accounts(self, app: Flask) -> None:
        run(app, "accounts", "sign-out", "--all")

    def test_account_deletion(self, app: Flask, ada: Person, laptop: Api) -> None:
        run(app, "accounts", "delete", "ada@example.com")
        assert laptop.get("/account", 404).detail == "Account not found"
        assert stored_count(app) == 0


def test_account_deletion_by_the_owner_ends_all_sessions(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__ACCOUNT_DELETION="on")
    bob = person("bob", into=app)
    here, there = bob.api(), bob.api()
    here.delete("/account", 202, json={"password": PASSWORD})
    assert not is_in(here)
    assert not is_in(there)


def stored_count(app: Flask) -> int:
    with app.app_context():
        session = current_frontdesk.session
        count: int = session.execute(text("SELECT count(*) FROM frontdesk_sessions")).scalar_one()
        session.rollback()
    return count


def test_ended_sessions_are_pruned_after_a_month(
    app: Flask, api: Api, laptop: Api, phone: Api, clock: SteppingClock
) -> None:
    laptop.delete(f"/sessions/{sid(phone)}")
    clock.step(days=29)
    assert prune(app, "frontdesk", "prune")["sessions"] == 0
    sign_in(api)
    clock.step(days=2)
    assert prune(app, "frontdesk", "prune")["sessions"] == 2
    assert stored_count(app) == 1


def test_data_export_lists_sessions_without_secrets(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__ACCOUNT_EXPORTS="on")
    api = person("bob", into=app).api()
    export_id = api.post("/account/exports", 202, json={"password": PASSWORD}).json["id"]
    engine.deliver()
    file = api.get(f"/account/exports/{export_id}/file").response.get_data()
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        [line] = archive.read("sessions.jsonl").decode().splitlines()
    row = json.loads(line)
    assert (row["kind"], row["amr"], row["ended_at"]) == ("token", "pwd", None)
    assert "secret" not in row
