"""Refresh tokens, for clients that request them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask

from app import Frontdesk
from app.accounts.service import Accounts
from app.auth.proof_names import PASSWORD as BY_PASSWORD
from app.auth.sessions.refresh_token import LENGTH
from app.auth.settings import AuthSettings
from app.auth.sign_in.options import sign_in_options
from app.auth.sign_in.policy import SignInPolicy, response_payload
from app.blueprints import auth, sessions
from app.core.config.environment import SettingsError
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import make_person

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings, host_with
from .test_sessions import FIREFOX, claims, is_in, listed, sid

ON = {"AUTH__SESSIONS": "on", "AUTH__REFRESH_TOKEN_DAYS": "14"}
MEMBERS = {"refresh_token", "refresh_expires"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON)


def sign_in(api: Api, prefer: str = "refresh", **headers: str) -> Any:
    """Sign in as a separate client and return the response of `/login`."""
    form = {"username": "ada@example.com", "password": PASSWORD}
    headers = {"User-Agent": FIREFOX, **headers} | ({"Prefer": prefer} if prefer else {})
    return api.as_token(None).post("/login", data=form, headers=headers).json


def start_session(person: Person) -> str:
    """Start a session without the password check, which is too slow for a thousand sign-ins."""
    headers = {"User-Agent": FIREFOX, "Prefer": "refresh"}
    with person.app.test_request_context(headers=headers):
        account = service(Accounts).get(person.email)
        outcome = service(SignInPolicy).admit(account, (BY_PASSWORD,), sign_in_options())
        return str(response_payload(outcome)["refresh_token"])


def refresh(api: Api, token: str, status: int = 200) -> Answer:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return api.as_token(None).post("/token", status, data=form)


def assert_rejected(api: Api, token: str) -> None:
    answer = refresh(api, token, 400)
    assert (answer.json["code"], answer.detail) == ("invalid_grant", "Invalid token")


@pytest.fixture
def token(api: Api, ada: Person) -> str:
    found: str = sign_in(api)["refresh_token"]
    return found


def test_refresh_token_is_only_returned_on_request(api: Api, ada: Person) -> None:
    plain = sign_in(api, prefer="")
    requested = sign_in(api)
    assert requested.keys() - plain.keys() == MEMBERS
    assert plain.keys().isdisjoint(MEMBERS)
    assert len(requested["refresh_token"]) == LENGTH
    assert datetime.fromisoformat(requested["refresh_expires"]).utcoffset() is not None


@for_each(
    ("prefer", "is_given"),
    [("refresh", True), ("return=minimal, Refresh", True), ("respond-async; wait=5,refresh", True)]
    + [("refreshing", False), ("return=refresh", False), ("\xff", False), (",;,", False)],
)
def test_preference_is_read_among_others(
    api: Api, ada: Person, prefer: str, is_given: bool
) -> None:
    assert (sign_in(api, prefer).keys() >= MEMBERS) is is_given


def test_every_sign_in_returns_a_refresh_token(make_app: MakeApp) -> None:
    app = make_app(**ON, AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="off")
    headers = {"Prefer": "refresh"}
    new = {"email": "ada@example.com", "password": PASSWORD}
    answer = Api(app).post("/registration", 201, json=new, headers=headers).json
    body = {"current_password": PASSWORD, "new_password": "another battery staple"}
    api = Api(app, token=answer["access_token"])
    changed = api.put("/account/password", json=body, headers=headers).json
    again = {"password": "another battery staple"}
    api = api.as_token(changed["access_token"])
    reauthenticated = api.post("/reauthenticate", json=again, headers=headers).json
    assert_rejected(api, answer["refresh_token"])
    # The session is the same, and its refresh token is unused.
    assert reauthenticated["refresh_token"] == changed["refresh_token"]
    refresh(api, reauthenticated["refresh_token"])


def test_refresh_always_returns_a_refresh_token(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(**ON, AUTH__REFRESH_ALWAYS="true")
    person("ada", into=app)
    assert sign_in(Api(app), prefer="").keys() >= MEMBERS


def test_disabled_refresh_tokens_are_not_returned(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__REFRESH_ALWAYS="true")
    person("ada", into=app)
    assert sign_in(Api(app)).keys().isdisjoint(MEMBERS)
    assert refresh(Api(app), "x", 400).json["code"] == "unsupported_grant_type"


def test_refresh_tokens_require_sessions(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match=r"AUTH\.SESSIONS must be on"):
        make_app(AUTH__REFRESH_TOKEN_DAYS="14")


def test_refresh_returns_a_sign_in_response_and_keeps_the_session(
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


def test_refresh_keeps_the_authentication_time(api: Api, ada: Person, clock: SteppingClock) -> None:
    first = sign_in(api)
    clock.step(minutes=31)
    later = api.as_token(refresh(api, first["refresh_token"]).json["access_token"])
    first_claims = claims(api.as_token(first["access_token"]))
    assert claims(later)["auth_time"] == first_claims["auth_time"]
    assert claims(later)["amr"] == first_claims["amr"] == ["pwd"]
    later.post("/account/email", 403, json={"email": "countess@example.com"})


def test_each_new_refresh_token_can_be_used(api: Api, token: str, clock: SteppingClock) -> None:
    tokens = {token}
    for _ in range(20):
        clock.step(hours=12)
        token = refresh(api, token).json["refresh_token"]
        tokens.add(token)
    assert len(tokens) == 21


def test_repeated_refresh_within_grace_period_returns_the_same_token(
    api: Api, token: str, clock: SteppingClock
) -> None:
    first = refresh(api, token).json
    clock.step(seconds=29)
    again = refresh(api, token).json
    assert again["refresh_token"] == first["refresh_token"]
    assert again["refresh_expires"] == first["refresh_expires"]
    assert is_in(api.as_token(again["access_token"]))


def test_refresh_token_reuse_after_grace_period_ends_the_session(
    api: Api, token: str, clock: SteppingClock, mails: MailOutbox, person: MakePerson
) -> None:
    owner = refresh(api, token).json
    clock.step(seconds=31)
    assert_rejected(api, token)
    assert not is_in(api.as_token(owner["access_token"]))
    assert_rejected(api, owner["refresh_token"])
    mail = mails.assert_sent("ada@example.com", "signed you out", "Firefox on Linux")
    assert len(mails) == 1
    assert token not in mail.text + mail.html
    admin = person("boss", role="admin").api()
    [event] = admin.get("/admin/events?type=session.reused").json
    assert (event["account_id"], event["actor_kind"]) == (owner["account"]["id"], "anonymous")
    assert event["target_id"] == sid(api.as_token(owner["access_token"]))


def test_refresh_token_reuse_after_its_successor_was_used_ends_the_session(
    api: Api, token: str
) -> None:
    second = refresh(api, token).json["refresh_token"]
    third = refresh(api, second).json["refresh_token"]
    assert_rejected(api, token)
    assert_rejected(api, third)


def test_refresh_token_reuse_keeps_other_sessions(
    api: Api, token: str, clock: SteppingClock
) -> None:
    other = sign_in(api)["refresh_token"]
    refresh(api, token)
    clock.step(seconds=31)
    assert_rejected(api, token)
    refresh(api, other)


def test_reuse_email_can_be_disabled(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    api = Api(make_app(**ON, AUTH__SECURITY_MAILS="false"))
    person("ada", into=api.app)
    token = sign_in(api)["refresh_token"]
    refresh(api, token)
    clock.step(seconds=31)
    assert_rejected(api, token)
    mails.assert_empty()


@only_on("sqlite")
def test_every_reuse_is_detected(api: Api, ada: Person, clock: SteppingClock) -> None:
    """A thousand sessions, each with a refresh token that is reused after the grace period. The
    tests above show what follows, on both databases."""
    detected = 0
    for _ in range(1_000):
        token = start_session(ada)
        owner = refresh(api, token).json["access_token"]
        clock.step(seconds=31)
        assert_rejected(api, token)
        detected += not is_in(api.as_token(owner))
    assert detected == 1_000


def test_refresh_returns_the_current_account(api: Api, ada: Person, token: str) -> None:
    ada.change(role="admin")
    assert refresh(api, token).json["account"]["role"] == "admin"


def test_hooks_run_at_refresh() -> None:
    frontdesk = Frontdesk()
    frontdesk.claims(lambda account, session: {"role": account.role})
    frontdesk.payload(
        lambda payload, session: {**payload, "user": {"role": payload["account"].role}}
    )
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, SESSIONS="on", REFRESH_TOKEN_DAYS=14)
    host = host_with((auth, ""), (sessions, "/in"), frontdesk=frontdesk, settings=settings)
    ada = make_person(host, "ada")
    token = sign_in(Api(host, ""))["refresh_token"]
    ada.change(role="admin")
    answer = refresh(Api(host, "/in"), token).json
    assert claims(Api(host, "", answer["access_token"]))["role"] == "admin"
    assert answer["user"] == {"role": "admin"}
