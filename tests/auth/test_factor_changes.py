"""Second factors are renamed and removed by their owner, and taken away by an operator."""

from __future__ import annotations

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
from .factors import challenge, enrol, enrolled, finish
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)


def test_what_changes_the_factors_asks_for_one_again(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60",
        AUTH__FRESH_MINUTES="5",
    )
    ada = person("ada", into=app)
    has = enrolled(ada, clock)
    [mine] = has.api.get("/authenticators").json
    path = f"/authenticators/{mine['id']}"
    assert has.api.patch(path, json={"name": "Old phone"}).json["name"] == "Old phone"
    clock.step(minutes=6)
    for method, where, more in (
        ("PATCH", path, {"json": {"name": "Mine"}}),
        ("DELETE", path, {}),
        ("POST", "/recovery-codes", {}),
        ("POST", "/authenticators/totp", {}),
    ):
        refused = has.api.send(method, where, 401, **more)
        assert refused.headers["WWW-Authenticate"] == (
            'Bearer error="insufficient_user_authentication", max_age="300", acr_values="mfa"'
        )
    answer = finish(Api(app), challenge(Api(app), ada), otp=has.phone.next_code()).json
    again = has.api.as_token(answer["access_token"])
    assert again.delete(path).json["name"] == "Old phone"


def test_with_the_last_one_all_that_stands_in_for_it_goes(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    has = enrolled(ada, clock)
    [mine] = has.api.get("/authenticators").json
    has.api.delete(f"/authenticators/{mine['id']}")
    mails.assert_sent(ada.email, "a second factor was removed")
    assert has.api.get("/recovery-codes").json == {"left": 0}
    assert has.api.post("/recovery-codes", 409).json["code"] == "no_factor"
    log_in(api, ada.email, PASSWORD)


def test_an_operator_takes_all_factors_from_who_has_lost_them(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    has, root = enrolled(ada, clock), person("grace", role="root").api()
    answer = root.delete(f"/admin/accounts/{ada.id}/authenticators").json
    assert answer == {"authenticators": 1}
    mails.assert_sent(ada.email, "your second factors were removed")
    has.api.get("/account", 401)
    log_in(api, ada.email, PASSWORD)


def test_that_operator_is_root_has_just_signed_in_and_does_not_do_it_for_themselves(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60",
    )
    ada, root = person("ada", into=app), person("grace", into=app, role="root")
    path = f"/admin/accounts/{ada.id}/authenticators"
    person("mary", into=app, role="admin").api().delete(path, 403)
    here = root.api()
    here.delete(f"/admin/accounts/{root.id}/authenticators", 403)
    here.delete("/admin/accounts/4711/authenticators", 404)
    clock.step(minutes=16)
    here.delete(path, 401)


def test_an_operator_does_it_from_the_command_line(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    result = ada.app.test_cli_runner().invoke(args=["accounts", "reset-mfa", ada.email])
    assert result.exit_code == 0, result.output
    log_in(api, ada.email, PASSWORD)


def test_an_operator_is_told_where_there_are_none(make_app: MakeApp) -> None:
    runner = make_app().test_cli_runner()
    for command in (["accounts", "reset-mfa", ADA], ["frontdesk", "reencrypt"]):
        result = runner.invoke(args=command)
        assert (result.exit_code, "AUTH__MFA is off" in result.output) == (1, True)


def test_who_takes_a_change_of_address_back_loses_no_factor_of_before(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    """Whoever reads an old mailbox would otherwise pass the factor by."""
    has = enrolled(ada, clock)
    clock.step(minutes=1)
    has.api.post("/account/email", 202, json={"email": "thief@example.com"})
    back = mailed(mails, ada.email)[0]
    body = {"token": mailed(mails, "thief@example.com")[0]}
    answer = has.api.post("/account/email/confirm", json=body).json
    here = has.api.as_token(answer["access_token"])
    answer = here.post("/reauthenticate", json={"otp": has.phone.next_code()}).json
    theirs = enrol(here.as_token(answer["access_token"]), clock)
    api.post("/account/email/undo", json={"token": back})
    ada.password = recovered(api, mails, ada.email)
    token = challenge(api, ada)
    finish(api, token, 400, otp=theirs.phone.next_code())
    answer = finish(api, token, otp=has.phone.code()).json
    here = api.as_token(answer["access_token"])
    assert [each["name"] for each in here.get("/authenticators").json] == ["Phone"]
    assert here.get("/recovery-codes").json == {"left": 0}, "the thief may have read them"


def test_and_one_who_had_none_is_not_locked_out_by_a_thiefs(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    thief = ada.api()
    thief.post("/account/email", 202, json={"email": "thief@example.com"})
    back = mailed(mails, ada.email)[0]
    body = {"token": mailed(mails, "thief@example.com")[0]}
    answer = thief.post("/account/email/confirm", json=body).json
    enrol(thief.as_token(answer["access_token"]), clock)
    api.post("/account/email/undo", json={"token": back})
    ada.password = recovered(api, mails, ada.email)
    log_in(api, ada.email, ada.password)


def recovered(api: Api, mails: MailOutbox, email: str) -> str:
    """Another password, by the mail that comes with taking the change back."""
    password = "a password never seen before"
    body = {"token": mailed(mails, email)[0], "new_password": password}
    api.post("/reset-password", json=body)
    return password


def test_what_was_set_up_in_somebodys_name_goes_when_they_come(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    with app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.reclaim(accounts.get(ada.email))
        account_id = ada.id
        assert service(Authenticators).list(account_id) == []
        assert service(RecoveryCodes).left(account_id) == 0


def test_a_deleted_account_takes_its_factors_along(ada: Person, clock: SteppingClock) -> None:
    enrolled(ada, clock)
    with ada.app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
        assert service(Authenticators).list(ada.id) == []
        assert service(RecoveryCodes).left(ada.id) == 0


@pytest.mark.parametrize("more", [{"AUTH__SESSIONS": "on"}, {"AUTH__REFRESH_TOKEN_DAYS": "7"}])
def test_with_sessions_the_others_end_and_the_new_one_has_the_factor(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, more: dict[str, str]
) -> None:
    app = make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS, **{"AUTH__SESSIONS": "on", **more}
    )
    ada, api = person("ada", into=app), Api(app)
    elsewhere = ada.api()
    has = enrolled(ada, clock)
    elsewhere.get("/account", 401)
    [session] = has.api.get("/sessions").json
    assert session["amr"] == ["otp", "mfa"]
    body = {"mfa_token": challenge(api, ada), "otp": has.phone.next_code()}
    answer = api.post("/login/mfa", json=body, headers={"Prefer": "refresh"}).json
    assert ("refresh_token" in answer) is ("AUTH__REFRESH_TOKEN_DAYS" in more)
    assert len(has.api.get("/sessions").json) == 2
