"""Changing authenticators: renamed and removed by their owner, reset by an operator."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.mfa.authenticators import Authenticators
from app.auth.mfa.recovery_codes import RecoveryCodes
from app.core.context import service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import CookieBrowser
from .factors import challenge, claims, enroll, enrolled, finish
from .passkey_holder import Holder
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)


def test_changing_authenticators_requires_recent_mfa(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60",
        AUTH__FRESH_MINUTES="5",
    )
    ada = person("ada", into=app)
    mfa = enrolled(ada, clock)
    [mine] = mfa.api.get("/authenticators").json
    path = f"/authenticators/{mine['id']}"
    assert mfa.api.patch(path, json={"name": "Old phone"}).json["name"] == "Old phone"
    clock.step(minutes=6)
    for method, where, more in (
        ("PATCH", path, {"json": {"name": "Mine"}}),
        ("DELETE", path, {}),
        ("POST", "/recovery-codes", {}),
        ("POST", "/authenticators/totp", {}),
    ):
        refused = mfa.api.send(method, where, 401, **more)
        assert refused.headers["WWW-Authenticate"] == (
            'Bearer error="insufficient_user_authentication", max_age="300", acr_values="mfa"'
        )
    answer = finish(Api(app), challenge(Api(app), ada), otp=mfa.phone.next_code()).json
    again = mfa.api.as_token(answer["access_token"])
    assert again.delete(path).json["name"] == "Old phone"


def test_removing_the_last_authenticator_removes_recovery_codes(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    mfa = enrolled(ada, clock)
    [mine] = mfa.api.get("/authenticators").json
    removed = mfa.api.delete(f"/authenticators/{mine['id']}").json
    here = mfa.api.as_token(removed["access_token"])
    mails.assert_sent(ada.email, "a two-factor method was removed")
    assert here.get("/recovery-codes").json == {"left": 0}
    assert here.post("/recovery-codes", 409).json["code"] == "no_factor"
    log_in(api, ada.email, PASSWORD)


def test_operator_resets_mfa(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    mfa, root = enrolled(ada, clock), person("grace", role="root").api()
    answer = root.delete(f"/admin/accounts/{ada.id}/authenticators").json
    assert answer == {"authenticators": 1}
    mails.assert_sent(ada.email, "two-factor authentication was reset")
    mfa.api.get("/account", 401)
    log_in(api, ada.email, PASSWORD)


def test_mfa_reset_requires_root_and_a_recent_sign_in(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS, AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60"
    )
    ada, root = person("ada", into=app), person("grace", into=app, role="root")
    path = f"/admin/accounts/{ada.id}/authenticators"
    person("mary", into=app, role="admin").api().delete(path, 403)
    here = root.api()
    here.delete(f"/admin/accounts/{root.id}/authenticators", 403)
    here.delete("/admin/accounts/4711/authenticators", 404)
    clock.step(minutes=16)
    here.delete(path, 401)


def test_operator_resets_mfa_from_the_command_line(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    result = ada.app.test_cli_runner().invoke(args=["accounts", "reset-mfa", ada.email])
    assert result.exit_code == 0, result.output
    log_in(api, ada.email, PASSWORD)


def test_commands_fail_where_mfa_is_off(make_app: MakeApp) -> None:
    runner = make_app().test_cli_runner()
    for command in (["accounts", "reset-mfa", ADA], ["frontdesk", "reencrypt"]):
        result = runner.invoke(args=command)
        assert (result.exit_code, "set AUTH__MFA" in result.output) == (1, True)


def test_undoing_an_email_change_keeps_earlier_authenticators(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    """Otherwise, access to the old mailbox would be enough to remove MFA."""
    mfa = enrolled(ada, clock)
    clock.step(minutes=1)
    mfa.api.post("/account/email", 202, json={"email": "attacker@example.com"})
    undo_token = mailed(mails, ada.email)[0]
    body = {"token": mailed(mails, "attacker@example.com")[0]}
    answer = mfa.api.post("/account/email/confirm", json=body).json
    here = mfa.api.as_token(answer["access_token"])
    answer = here.post("/reauthenticate", json={"otp": mfa.phone.next_code()}).json
    attackers = enroll(here.as_token(answer["access_token"]), clock)
    api.post("/account/email/undo", json={"token": undo_token})
    ada.password = reset_password(api, mails, ada.email)
    token = challenge(api, ada)
    finish(api, token, 400, otp=attackers.phone.next_code())
    answer = finish(api, token, otp=mfa.phone.code()).json
    here = api.as_token(answer["access_token"])
    assert [each["name"] for each in here.get("/authenticators").json] == ["Phone"]
    assert here.get("/recovery-codes").json == {"left": 0}, "the attacker may have read the codes"


def test_undoing_an_email_change_removes_the_attackers_authenticator(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    attacker = ada.api()
    attacker.post("/account/email", 202, json={"email": "attacker@example.com"})
    undo_token = mailed(mails, ada.email)[0]
    body = {"token": mailed(mails, "attacker@example.com")[0]}
    answer = attacker.post("/account/email/confirm", json=body).json
    enroll(attacker.as_token(answer["access_token"]), clock)
    api.post("/account/email/undo", json={"token": undo_token})
    ada.password = reset_password(api, mails, ada.email)
    log_in(api, ada.email, ada.password)


def reset_password(api: Api, mails: MailOutbox, email: str) -> str:
    """Reset the password with the token of the email that follows the undo, and return it."""
    password = "a password never seen before"
    body = {"token": mailed(mails, email)[0], "new_password": password}
    api.post("/reset-password", json=body)
    return password


def test_reclaiming_an_account_removes_its_authenticators(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    with app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.reclaim(accounts.get(ada.email))
        account_id = ada.id
        assert service(Authenticators).list(account_id) == []
        assert service(RecoveryCodes).count_left(account_id) == 0


def test_deleting_the_account_deletes_its_authenticators(ada: Person, clock: SteppingClock) -> None:
    enrolled(ada, clock)
    with ada.app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
        assert service(Authenticators).list(ada.id) == []
        assert service(RecoveryCodes).count_left(ada.id) == 0


@pytest.mark.parametrize("more", [{"AUTH__SESSIONS": "on"}, {"AUTH__REFRESH_TOKEN_DAYS": "7"}])
def test_enrollment_ends_other_sessions_and_renews_the_current_one(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, more: dict[str, str]
) -> None:
    app = make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS, **{"AUTH__SESSIONS": "on", **more}
    )
    ada, api = person("ada", into=app), Api(app)
    elsewhere = ada.api()
    mfa = enrolled(ada, clock)
    elsewhere.get("/account", 401)
    [session] = mfa.api.get("/sessions").json
    assert session["amr"] == ["otp", "mfa"]
    body = {"mfa_token": challenge(api, ada), "otp": mfa.phone.next_code()}
    answer = api.post("/login/mfa", json=body, headers={"Prefer": "refresh"}).json
    assert ("refresh_token" in answer) is ("AUTH__REFRESH_TOKEN_DAYS" in more)
    assert len(mfa.api.get("/sessions").json) == 2


def remove_one(api: Api) -> Any:
    return api.delete(f"/authenticators/{api.get('/authenticators').json[0]['id']}").json


def renew_codes(api: Api) -> Any:
    return api.post("/recovery-codes", 201).json


CHANGES = {"removal": remove_one, "recovery codes": renew_codes}
TOKEN_MEMBERS = {"access_token", "expires", "token_type"}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("sessions", ["off", "on"])
def test_changes_of_factors_end_other_sign_ins(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, sessions: str, change: Any
) -> None:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": METHODS, "AUTH__MFA_TRUST_DAYS": "9"}
    app = make_app(**settings, AUTH__SESSIONS=sessions)
    ada, api = person("ada", into=app), Api(app)
    mfa = enrolled(ada, clock)
    device = finish(api, challenge(api, ada), otp=mfa.phone.next_code(), trust=True).json
    elsewhere = api.as_token(device["access_token"])
    with_device = {"X-Trusted-Device": device["trusted_device"]}
    form = {"username": ada.email, "password": PASSWORD}
    answer = change(mfa.api)
    elsewhere.get("/account", 401)
    if sessions == "on":
        assert not TOKEN_MEMBERS & answer.keys()
        here = mfa.api
    else:
        mfa.api.get("/account", 401)
        here = mfa.api.as_token(answer["access_token"])
        expires = datetime.fromisoformat(answer["expires"]).timestamp()
        assert expires <= float(str(claims(mfa.api)["exp"])), "the token lives no longer"
        assert answer["token_type"] == "bearer"
    here.get("/account")
    # The sign-in is as recent as before, and with a second factor.
    renewed = change(here) if change is renew_codes else here.post("/recovery-codes", 409).json
    assert "recovery_codes" in renewed or renewed["code"] == "no_factor"
    if change is remove_one:
        enrolled(ada, clock)
        api.post("/login", 403, data=form, headers=with_device)
    else:
        api.post("/login", data=form, headers=with_device)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("sessions", ["off", "on"])
def test_changes_of_factors_keep_the_cookie_of_the_caller(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, sessions: str, change: Any
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__SESSIONS=sessions,
        AUTH__COOKIE_SESSIONS="on",
    )
    ada = person("ada", into=app)
    mfa = enrolled(ada, clock)
    here, elsewhere = CookieBrowser(app), CookieBrowser(app)
    for browser in (here, elsewhere):
        browser.sign_in(ada, otp=mfa.phone.next_code())
    before = here.get("/session").json["expires"]
    assert not TOKEN_MEMBERS & change(here).keys()
    assert here.get("/session").json["expires"] == before
    elsewhere.get("/account", 401)
    mfa.api.get("/account", 401)


def test_removing_one_of_two_authenticators_ends_trusted_devices(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS, AUTH__MFA_TRUST_DAYS="9")
    ada, api = person("ada", into=app), Api(app)
    mfa = enrolled(ada, clock)
    second = enroll(mfa.api, clock)
    answer = finish(api, challenge(api, ada), otp=second.phone.next_code(), trust=True).json
    here = api.as_token(answer["access_token"])
    here = here.as_token(remove_one(here)["access_token"])
    assert here.get("/trusted-devices").json == []
    assert here.get("/recovery-codes").json == {"left": 10}


def test_removing_a_passkey_ends_other_sign_ins(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__PASSKEYS="on")
    ada = person("ada", into=app)
    here, elsewhere = ada.api(), ada.api()
    Holder(here).add()
    answer = remove_one(here)
    for api in (here, elsewhere):
        api.get("/account", 401)
    here.as_token(answer["access_token"]).get("/account")
