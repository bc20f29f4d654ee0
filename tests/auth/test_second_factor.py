"""A second factor beside the first proof, whichever that was: asked for, and answered."""

from __future__ import annotations

import pytest
from flask import Flask

from app import Problem, active_account_required, mfa_required
from app.accounts.service import Accounts
from app.auth.sign_in.by_host import sign_in
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.oidc.visitor import Visitor
from .factors import challenge, claims, enrol, enrolled, finish
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)


def test_who_has_none_signs_in_as_before(ada: Person, api: Api) -> None:
    answer = log_in(api, ada.email, PASSWORD).json
    assert answer["token_type"] == "bearer"
    assert claims(api.as_token(answer["access_token"]))["amr"] == ["pwd"]


def test_a_right_password_is_asked_for_a_second_factor_and_a_code_signs_in(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    refused = log_in(api, ada.email, PASSWORD, 403)
    assert refused.detail == "A second factor is required"
    assert refused.json["code"] == "mfa_required"
    assert refused.json["methods"] == ["totp", "recovery"]
    assert "access_token" not in refused.json
    answer = finish(api, refused.json["mfa_token"], otp=phone.next_code()).json
    here = api.as_token(answer["access_token"])
    assert here.get("/account").json["email"] == ada.email
    assert claims(here)["amr"] == ["pwd", "otp", "mfa"]


def test_a_wrong_password_is_told_nothing_of_it(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    assert log_in(api, ada.email, "wrong", 400).json["code"] == "incorrect_credentials"


def test_a_code_beside_the_password_does_it_in_one_step(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    form = {"username": ada.email, "password": PASSWORD, "otp": phone.next_code()}
    token = api.post("/login", data=form).json["access_token"]
    assert claims(api.as_token(token))["amr"] == ["pwd", "otp", "mfa"]
    assert api.post("/login", 400, data=form).json["code"] == "incorrect_code"


@only_on("sqlite")
def test_a_wrong_code_beside_the_password_is_counted_as_a_wrong_password(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    form = {"username": ada.email, "password": PASSWORD, "otp": phone.wrong_code()}
    for _ in range(5):
        api.post("/login", 400, data=form)
    assert log_in(api, ada.email, PASSWORD, 429).json["code"] == "too_many_attempts"
    clock.step(minutes=6)
    log_in(api, ada.email, PASSWORD, 403)


@only_on("sqlite")
def test_five_wrong_codes_end_the_token(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    for _ in range(5):
        assert finish(api, token, 400, otp=phone.wrong_code()).json["code"] == "incorrect_code"
    refused = finish(api, token, 429, otp=phone.next_code())
    assert int(refused.headers["Retry-After"]) > 0


@only_on("sqlite")
def test_over_many_tokens_an_account_is_guessed_ten_times_and_its_owner_is_told_once(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    # As from many addresses, none of which guesses often.
    app = make_app(
        AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS, AUTH__LOGIN_LIMIT="1000 per minute"
    )
    ada, api = person("ada", into=app), Api(app)
    phone = enrolled(ada, clock).phone
    mails.clear()
    clock.step(minutes=1)
    for _ in range(10):
        finish(api, challenge(api, ada), 400, otp=phone.wrong_code())
    for _ in range(3):
        finish(api, challenge(api, ada), 429, otp=phone.code())
    assert [mail.subject for mail in mails.to(ada.email)] == [
        "Frontdesk: another person may know your password"
    ]
    clock.step(minutes=11)
    finish(api, challenge(api, ada), otp=phone.code())


def test_right_codes_are_not_counted(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    for _ in range(12):
        finish(api, challenge(api, ada), otp=phone.next_code())


def test_a_token_is_good_once_for_five_minutes_and_for_nothing_else(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    clock.step(minutes=5, seconds=1)
    assert finish(api, token, 400, otp=phone.code()).json["code"] == "invalid_token"
    token = challenge(api, ada)
    api.as_token(token).get("/account", 401)
    api.post("/authenticators/totp", 400, json={"mfa_token": token})
    api.post("/email-verification", 400, json={"token": token})
    finish(api, token, otp=phone.code())
    finish(api, token, 400, otp=phone.next_code())


def test_another_password_ends_the_token(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    ada.change(password="another password altogether")
    finish(api, token, 400, otp=phone.next_code())


def test_a_code_of_somebody_elses_app_is_a_wrong_one(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    theirs = enrolled(person("grace"), clock)
    finish(api, challenge(api, ada), 400, otp=theirs.phone.next_code())
    finish(api, challenge(api, ada), 400, recovery_code=theirs.recovery_codes[0])


def test_who_is_suspended_meanwhile_stays_out(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    token, code = challenge(api, ada), phone.next_code()
    ada.change(status="suspended")
    assert finish(api, token, 400, otp=code).json["code"] == "inactive_account"
    ada.change(status="active")
    finish(api, token, otp=code)


def test_after_a_logout_it_signs_in_again(ada: Person, api: Api, clock: SteppingClock) -> None:
    has = enrolled(ada, clock)
    has.api.delete("/logout")
    answer = finish(api, challenge(api, ada), otp=has.phone.next_code()).json
    api.as_token(answer["access_token"]).get("/account")


@only_on("sqlite")
def test_so_it_does_with_a_keystore_in_the_one_database(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    """Where one writer waits for the other, a keystore that is asked too late waits for itself."""
    app = make_app(AUTH__MFA="required", AUTH__MFA_METHODS=METHODS, CORE__KEYSTORE="database")
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ada.email, PASSWORD, 403).json["mfa_token"]
    has = enrol(api, clock, mfa_token=token)
    for way in ("otp", "recovery code", "one step"):
        has.api.delete("/logout")
        match way:
            case "otp":
                answer = finish(api, challenge(api, ada), otp=has.phone.next_code())
            case "recovery code":
                answer = finish(api, challenge(api, ada), recovery_code=has.recovery_codes[0])
            case _:
                form = {"username": ada.email, "password": PASSWORD, "otp": has.phone.next_code()}
                answer = api.post("/login", data=form)
        has.api = api.as_token(answer.json["access_token"])
    has.api.get("/account")


def test_whoever_comes_from_a_provider_is_asked_too(
    make_idp_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_idp_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)
    api = Api(app)
    phone = enrolled(person("ada", into=app), clock).phone
    refused = Visitor(api).sign_in("ada", 403).json
    assert refused["code"] == "mfa_required"
    token = finish(api, refused["mfa_token"], otp=phone.next_code()).json["access_token"]
    assert claims(api.as_token(token))["amr"] == ["fed", "otp", "mfa"]


def test_a_host_that_vouches_for_somebody_is_asked_too(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        with pytest.raises(Problem, match="A second factor is required"):
            sign_in(account, by=("magic link",))
        assert sign_in(account, by=("magic link", "totp"))["access_token"]


def test_a_new_password_keeps_whoever_sets_it_signed_in_with_the_factor(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    has = enrolled(ada, clock)
    body = {"current_password": PASSWORD, "new_password": "another password altogether"}
    answer = has.api.put("/account/password", json=body).json
    again = api.as_token(answer["access_token"])
    again.get("/authenticators")
    ada.password = "another password altogether"
    challenge(api, ada)


def test_a_reset_of_the_password_does_not_pass_the_factor_by(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    enrolled(ada, clock)
    api.post("/password-recovery", json={"email": ada.email})
    token, _ = mailed(mails, ada.email)
    ada.password = "another password altogether"
    api.post("/reset-password", json={"token": token, "new_password": ada.password})
    challenge(api, ada)


def test_an_email_address_changes_only_after_the_second_factor(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    has = enrolled(ada, clock)
    new = "countess@example.com"
    has.api.post("/account/email", 202, json={"email": new})
    body = {"token": mailed(mails, new)[0]}
    refused = api.post("/account/email/confirm", 401, json={**body, "password": PASSWORD})
    assert refused.json["code"] == "reauthentication_required"
    clock.step(minutes=16)
    here = api.as_token(
        finish(api, challenge(api, ada), otp=has.phone.next_code()).json["access_token"]
    )
    clock.step(minutes=16)
    refused = here.post("/account/email/confirm", 401, json=body)
    assert refused.json["code"] == "reauthentication_required"
    assert here.get("/account").json["email"] == ADA
    again = here.post("/reauthenticate", json={"otp": has.phone.next_code()}).json
    here = here.as_token(again["access_token"])
    answer = here.post("/account/email/confirm", json=body).json
    assert answer["account"]["email"] == new, "signed in again without another factor"


def test_a_host_guards_what_is_for_who_has_shown_a_factor(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    # [guard]
    @app.get("/api/v1/vault")
    @active_account_required
    @mfa_required
    def open_vault() -> str:
        return "open"

    # [end]
    refused = ada.api().get("/vault", 401)
    assert refused.json["code"] == "reauthentication_required"
    assert refused.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_user_authentication", acr_values="mfa"'
    )
    enrolled(ada, clock).api.get("/vault")


@for_each(
    ("body", "fault"),
    [
        ({"otp": "123456"}, "json:mfa_token"),
        ({"mfa_token": "x"}, "json:otp"),
        ({"mfa_token": "x", "otp": "123456", "recovery_code": "x"}, "json:otp"),
        ({"mfa_token": "x", "credential": "x"}, "json:credential"),
        ({"mfa_token": "x", "otp": "123456", "trust": "yes"}, "json:trust"),
        ({"mfa_token": "x" * 2049, "otp": "123456"}, "json:mfa_token"),
        ({"mfa_token": "x", "recovery_code": "x" * 33}, "json:recovery_code"),
    ],
)
def test_what_answers_nothing_is_a_422(api: Api, body: dict[str, object], fault: str) -> None:
    assert api.post("/login/mfa", 422, json=body).faults == [fault]


@for_each("token", ["x", "a.b.c", "W10.aaaaaa.bbbbbb", "\u20ac", " "])
def test_what_is_no_token_signs_nobody_in(api: Api, token: str) -> None:
    finish(api, token, 400, otp="123456")


def test_a_passkey_where_there_are_none_is_a_wrong_factor(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    signed = ("clientDataJSON", "authenticatorData", "signature")
    shown = {"id": "QUJD", "rawId": "QUJD", "type": "public-key"}
    shown["response"] = dict.fromkeys(signed, "QUJD")  # type: ignore[assignment]
    finish(api, challenge(api, ada), 400, credential=shown)


def test_it_costs_who_has_none_one_question_and_its_answer_one_more(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    asked = {}
    for mode in ("off", "optional"):
        app = make_app(AUTH__MFA=mode, AUTH__MFA_METHODS=METHODS)
        someone = person(mode, into=app)
        someone.token()
        with noted_queries(app) as statements:
            someone.token()
        asked[mode] = len(statements)
    assert asked["optional"] == asked["off"] + 1
    phone, api = enrolled(someone, clock).phone, Api(app)
    finish(api, challenge(api, someone), otp=phone.next_code())
    token, code = challenge(api, someone), phone.next_code()
    with noted_queries(app) as statements:
        finish(api, token, otp=code)
    assert len(statements) == asked["optional"] + 1


def test_administrators_find_who_has_one_and_who_has_none(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional")
    ada, boss = person("ada", into=app), person("grace", role="admin", into=app).api()

    def found(mfa: str) -> set[str]:
        answer = boss.get("/admin/accounts", query_string={"mfa": mfa})
        return {each["email"].partition("@")[0] for each in answer.json}

    assert (found("true"), found("false")) == (set(), {"ada", "grace"})
    ada.api().post("/authenticators/totp", 201, json={})
    assert found("true") == set()
    enrolled(ada, clock)
    assert (found("true"), found("false")) == ({"ada"}, {"grace"})
    without = person("bob", role="admin", into=make_app()).api()
    without.get("/admin/accounts", 422, query_string={"mfa": "true"})
