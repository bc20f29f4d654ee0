"""What ends all of an account's sessions, and what is kept of them afterwards."""

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
from app.testing.outbox import MailOutbox, ManualEngine

from ..cli.test_command_line import run
from ..cli.test_prune import run as prune
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
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


class TestWhatEndsAll:
    """What ends the tokens ends the sessions, and nothing brings them back."""

    @pytest.fixture(autouse=True)
    def _all_are_over(self, api: Api, laptop: Api, phone: Api) -> Iterator[None]:
        yield
        assert not is_in(laptop)
        assert not is_in(phone)

    def test_a_logout(self, api: Api, laptop: Api, phone: Api) -> None:
        laptop.delete("/logout")
        phone.get("/account", 401)
        assert [each["current"] for each in listed(sign_in(api))] == [True]

    def test_a_new_password_which_signs_in_anew(self, laptop: Api) -> None:
        body = {"current_password": PASSWORD, "new_password": NEW}
        token = laptop.put("/account/password", json=body).json["access_token"]
        assert [each["current"] for each in listed(laptop.as_token(token))] == [True]

    def test_a_reset(self, api: Api, mails: MailOutbox, laptop: Api) -> None:
        token, _ = ask(api, mails)
        reset(api, token)
        assert len(listed(sign_in(api, password=NEW))) == 1

    def test_another_address(self, api: Api, laptop: Api, mails: MailOutbox) -> None:
        new = {"email": "countess@example.com", "password": PASSWORD}
        laptop.post("/account/email", 202, json=new)
        proof = mails.last("countess@example.com").text.partition("token=")[2].split()[0]
        body = {"token": proof, "password": PASSWORD}
        answer = api.post("/account/email/confirm", json=body).json
        assert [each["current"] for each in listed(api.as_token(answer["access_token"]))] == [True]

    def test_a_suspension_by_an_admin(self, ada: Person, person: MakePerson) -> None:
        boss = person("boss", role="admin").api()
        boss.patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
        boss.patch(f"/admin/accounts/{ada.id}", json={"status": "active"})

    def test_a_suspension_by_command(self, app: Flask) -> None:
        run(app, "accounts", "set", "ada@example.com", "--status", "suspended")
        run(app, "accounts", "set", "ada@example.com", "--status", "active")

    def test_a_sign_out_by_an_admin(self, ada: Person, person: MakePerson, api: Api) -> None:
        boss = person("boss", role="admin").api()
        boss.post(f"/admin/accounts/{ada.id}/sign-out")
        assert is_in(sign_in(api))

    def test_a_sign_out_by_command(self, app: Flask) -> None:
        run(app, "accounts", "sign-out", "ada@example.com")

    def test_a_sign_out_of_everybody(self, app: Flask) -> None:
        run(app, "accounts", "sign-out", "--all")

    def test_the_end_of_the_account(self, app: Flask, ada: Person, laptop: Api) -> None:
        run(app, "accounts", "delete", "ada@example.com")
        assert laptop.get("/account", 404).detail == "Account not found"
        assert kept(app) == 0


def test_an_owner_who_deletes_the_account_is_out_everywhere(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__ACCOUNT_DELETION="on")
    bob = person("bob", into=app)
    here, there = bob.api(), bob.api()
    here.delete("/account", 202, json={"password": PASSWORD})
    assert not is_in(here)
    assert not is_in(there)


def kept(app: Flask) -> int:
    with app.app_context():
        session = current_frontdesk.session
        count: int = session.execute(text("SELECT count(*) FROM frontdesk_sessions")).scalar_one()
        session.rollback()
    return count


def test_a_month_after_its_end_it_is_forgotten(
    app: Flask, api: Api, laptop: Api, phone: Api, clock: SteppingClock
) -> None:
    laptop.delete(f"/sessions/{sid(phone)}")
    clock.step(days=29)
    assert prune(app, "frontdesk", "prune")["sessions"] == 0
    sign_in(api)
    clock.step(days=2)
    assert prune(app, "frontdesk", "prune")["sessions"] == 2
    assert kept(app) == 1


def test_a_copy_of_ones_data_tells_of_them_and_not_how_to_open_them(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__ACCOUNT_EXPORTS="on")
    api = person("bob", into=app).api()
    made = api.post("/account/exports", 202, json={"password": PASSWORD}).json["id"]
    engine.deliver()
    file = api.get(f"/account/exports/{made}/file").response.get_data()
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        [line] = archive.read("sessions.jsonl").decode().splitlines()
    row = json.loads(line)
    assert (row["kind"], row["amr"], row["ended_at"]) == ("token", "pwd", None)
    assert "secret" not in row
