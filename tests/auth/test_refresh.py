"""Staying signed in: refresh tokens, for clients that ask for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask

from app import Frontdesk
from app.accounts.service import Accounts
from app.auth.sessions.refresh_token import LENGTH
from app.auth.settings import AuthSettings
from app.auth.sign_in.attempt import PASSWORD as BY_PASSWORD
from app.auth.sign_in.attempt import sign_in_options
from app.auth.sign_in.gate import Gate, payload_of
from app.blueprints import auth, sessions
from app.core.config.environment import SettingsError
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import make_person

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings, host_of
from .test_sessions import FIREFOX, claims, is_in, listed, sid

ON = {"AUTH__SESSIONS": "on", "AUTH__REFRESH_TOKEN_DAYS": "14"}
MEMBERS = {"refresh_token", "refresh_expires"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON)


def sign_in(api: Api, prefer: str = "refresh", **headers: str) -> Any:
    """What `/login` answers a client of its own."""
    form = {"username": "ada@example.com", "password": PASSWORD}
    headers = {"User-Agent": FIREFOX, **headers} | ({"Prefer": prefer} if prefer else {})
    return api.as_token(None).post("/login", data=form, headers=headers).json


def begin_session(person: Person) -> str:
    """As at `/login` once the password was right, of which a thousand more tell nothing."""
    asking = {"User-Agent": FIREFOX, "Prefer": "refresh"}
    with person.app.test_request_context(headers=asking):
        account = service(Accounts).get(person.email)
        outcome = service(Gate).admit(account, (BY_PASSWORD,), sign_in_options())
        return str(payload_of(outcome)["refresh_token"])


def refresh(api: Api, token: str, status: int = 200) -> Answer:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return api.as_token(None).post("/token", status, data=form)


def refused(api: Api, token: str) -> None:
    answer = refresh(api, token, 400)
    assert (answer.json["code"], answer.detail) == ("invalid_grant", "Invalid token")


@pytest.fixture
def token(api: Api, ada: Person) -> str:
    found: str = sign_in(api)["refresh_token"]
    return found


def test_only_who_asks_for_it_gets_one(api: Api, ada: Person) -> None:
    plain = sign_in(api, prefer="")
    asked = sign_in(api)
    assert asked.keys() - plain.keys() == MEMBERS
    assert plain.keys().isdisjoint(MEMBERS)
    assert len(asked["refresh_token"]) == LENGTH
    assert datetime.fromisoformat(asked["refresh_expires"]).utcoffset() is not None


@for_each(
    ("prefer", "is_given"),
    [("refresh", True), ("return=minimal, Refresh", True), ("respond-async; wait=5,refresh", True)]
    + [("refreshing", False), ("return=refresh", False), ("\xff", False), (",;,", False)],
)
def test_a_client_says_so_among_what_else_it_prefers(
    api: Api, ada: Person, prefer: str, is_given: bool
) -> None:
    assert (sign_in(api, prefer).keys() >= MEMBERS) is is_given


def test_whatever_signs_in_gives_one(make_app: MakeApp) -> None:
    app = make_app(**ON, AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="off")
    asking = {"Prefer": "refresh"}
    new = {"email": "ada@example.com", "password": PASSWORD}
    answer = Api(app).post("/registration", 201, json=new, headers=asking).json
    body = {"current_password": PASSWORD, "new_password": "another battery staple"}
    api = Api(app, token=answer["access_token"])
    changed = api.put("/account/password", json=body, headers=asking).json
    again = {"password": "another battery staple"}
    api = api.as_token(changed["access_token"])
    shown = api.post("/reauthenticate", json=again, headers=asking).json
    refused(api, answer["refresh_token"])
    # It is the same session, which stands at the same step.
    assert shown["refresh_token"] == changed["refresh_token"]
    refresh(api, shown["refresh_token"])


def test_where_it_is_always_given_nobody_need_ask(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(**ON, AUTH__REFRESH_ALWAYS="true")
    person("ada", into=app)
    assert sign_in(Api(app), prefer="").keys() >= MEMBERS


def test_where_it_is_off_nobody_gets_one(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__REFRESH_ALWAYS="true")
    person("ada", into=app)
    assert sign_in(Api(app)).keys().isdisjoint(MEMBERS)
    assert refresh(Api(app), "x", 400).json["code"] == "unsupported_grant_type"


def test_without_sessions_there_is_nothing_to_refresh(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match=r"AUTH\.SESSIONS must be on"):
        make_app(AUTH__REFRESH_TOKEN_DAYS="14")


def test_it_is_answered_as_a_sign_in_and_the_session_goes_on(
    api: Api, token: str, clock: SteppingClock
) -> None:
    clock.step(minutes=31)
    answer = refresh(api, token)
    body = answer.json
    assert answer.headers["Cache-Control"] == "no-store"
    assert body["account"]["email"] == "ada@example.com"
    assert body["refresh_token"] != token
    here = api.as_token(body["access_token"])
    [session] = listed(here)
    assert (session["id"], session["current"]) == (sid(here), True)
    assert session["label"] == "Firefox on Linux"


def test_a_sign_in_is_as_old_as_it_was(api: Api, ada: Person, clock: SteppingClock) -> None:
    first = sign_in(api)
    clock.step(minutes=31)
    later = api.as_token(refresh(api, first["refresh_token"]).json["access_token"])
    begun = claims(api.as_token(first["access_token"]))
    assert claims(later)["auth_time"] == begun["auth_time"]
    assert claims(later)["amr"] == begun["amr"] == ["pwd"]
    later.post("/account/email", 403, json={"email": "countess@example.com"})


def test_each_successor_is_good_once_more(api: Api, token: str, clock: SteppingClock) -> None:
    seen = {token}
    for _ in range(20):
        clock.step(hours=12)
        token = refresh(api, token).json["refresh_token"]
        seen.add(token)
    assert len(seen) == 21


def test_a_lost_answer_is_given_again(api: Api, token: str, clock: SteppingClock) -> None:
    first = refresh(api, token).json
    clock.step(seconds=29)
    again = refresh(api, token).json
    assert again["refresh_token"] == first["refresh_token"]
    assert again["refresh_expires"] == first["refresh_expires"]
    assert is_in(api.as_token(again["access_token"]))


def test_half_a_minute_later_a_copy_ends_the_session(
    api: Api, token: str, clock: SteppingClock, mails: MailOutbox, person: MakePerson
) -> None:
    owner = refresh(api, token).json
    clock.step(seconds=31)
    refused(api, token)
    assert not is_in(api.as_token(owner["access_token"]))
    refused(api, owner["refresh_token"])
    mail = mails.assert_sent("ada@example.com", "signed you out", "Firefox on Linux")
    assert len(mails) == 1
    assert token not in mail.text + mail.html
    boss = person("boss", role="admin").api()
    [event] = boss.get("/admin/events?type=session.reused").json
    assert (event["account_id"], event["actor_kind"]) == (owner["account"]["id"], "anonymous")
    assert event["target_id"] == sid(api.as_token(owner["access_token"]))


def test_a_copy_of_a_token_whose_successor_was_used_ends_it_at_once(api: Api, token: str) -> None:
    second = refresh(api, token).json["refresh_token"]
    third = refresh(api, second).json["refresh_token"]
    refused(api, token)
    refused(api, third)


def test_other_sessions_go_on(api: Api, token: str, clock: SteppingClock) -> None:
    other = sign_in(api)["refresh_token"]
    refresh(api, token)
    clock.step(seconds=31)
    refused(api, token)
    refresh(api, other)


def test_an_owner_need_not_be_told(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    api = Api(make_app(**ON, AUTH__SECURITY_MAILS="false"))
    person("ada", into=api.app)
    token = sign_in(api)["refresh_token"]
    refresh(api, token)
    clock.step(seconds=31)
    refused(api, token)
    mails.assert_empty()


def test_every_copy_is_found_out(api: Api, ada: Person, clock: SteppingClock) -> None:
    """A thousand sessions, each with a token that comes again after half a minute."""
    found_out = 0
    for _ in range(1_000):
        token = begin_session(ada)
        owner = refresh(api, token).json["access_token"]
        clock.step(seconds=31)
        refused(api, token)
        found_out += not is_in(api.as_token(owner))
    assert found_out == 1_000


def test_what_is_said_of_the_account_is_said_anew(api: Api, ada: Person, token: str) -> None:
    ada.change(role="admin")
    assert refresh(api, token).json["account"]["role"] == "admin"


def test_a_hosts_hooks_take_part_as_at_a_sign_in() -> None:
    frontdesk = Frontdesk()
    frontdesk.claims(lambda account, session: {"role": account.role})
    frontdesk.payload(
        lambda payload, session: {**payload, "user": {"role": payload["account"].role}}
    )
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, SESSIONS="on", REFRESH_TOKEN_DAYS=14)
    host = host_of((auth, ""), (sessions, "/in"), frontdesk=frontdesk, settings=settings)
    ada = make_person(host, "ada")
    token = sign_in(Api(host, ""))["refresh_token"]
    ada.change(role="admin")
    answer = refresh(Api(host, "/in"), token).json
    assert claims(Api(host, "", answer["access_token"]))["role"] == "admin"
    assert answer["user"] == {"role": "admin"}
