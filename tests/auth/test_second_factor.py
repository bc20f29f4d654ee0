"""MFA at sign-in: the challenge after the first proof, and its completion."""

from __future__ import annotations

import pytest
from flask import Flask

from app import Problem, active_account_required, mfa_required
from app.accounts.service import Accounts
from app.core.context import service
from app.extension.application_sign_in import sign_in
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.oidc.visitor import Visitor
from .factors import challenge, claims, enroll, enrolled, finish
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)


def test_user_without_mfa_signs_in_with_the_password(ada: Person, api: Api) -> None:
    answer = log_in(api, ada.email, PASSWORD).json
    assert answer["token_type"] == "bearer"
    assert claims(api.as_token(answer["access_token"]))["amr"] == ["pwd"]


def test_password_is_challenged_and_a_code_signs_in(
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


def test_wrong_password_does_not_reveal_mfa(ada: Person, api: Api, clock: SteppingClock) -> None:
    enrolled(ada, clock)
    assert log_in(api, ada.email, "wrong", 400).json["code"] == "incorrect_credentials"


def test_code_with_the_password_signs_in_in_one_step(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    form = {"username": ada.email, "password": PASSWORD, "otp": phone.next_code()}
    token = api.post("/login", data=form).json["access_token"]
    assert claims(api.as_token(token))["amr"] == ["pwd", "otp", "mfa"]
    assert api.post("/login", 400, data=form).json["code"] == "incorrect_code"


@only_on("sqlite")
def test_wrong_code_with_the_password_counts_as_a_wrong_password(
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
def test_five_wrong_codes_invalidate_the_mfa_token(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    for _ in range(5):
        assert finish(api, token, 400, otp=phone.wrong_code()).json["code"] == "incorrect_code"
    refused = finish(api, token, 429, otp=phone.next_code())
    assert int(refused.headers["Retry-After"]) > 0


@only_on("sqlite")
def test_ten_wrong_codes_lock_the_account_and_notify_the_owner_once(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, mails: MailOutbox
) -> None:
    # Simulates many IP addresses, none of which reaches its own limit.
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
        "Frontdesk: someone may know your password"
    ]
    clock.step(minutes=11)
    finish(api, challenge(api, ada), otp=phone.code())


def test_correct_codes_are_not_counted(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    for _ in range(12):
        finish(api, challenge(api, ada), otp=phone.next_code())


def test_mfa_token_is_single_use_short_lived_and_for_one_purpose(
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


def test_password_change_invalidates_the_mfa_token(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    token = challenge(api, ada)
    ada.change(password="another password altogether")
    finish(api, token, 400, otp=phone.next_code())


def test_codes_of_another_users_app_are_incorrect(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    graces = enrolled(person("grace"), clock)
    finish(api, challenge(api, ada), 400, otp=graces.phone.next_code())
    finish(api, challenge(api, ada), 400, recovery_code=graces.recovery_codes[0])


def test_suspended_account_cannot_complete_mfa(ada: Person, api: Api, clock: SteppingClock) -> None:
    phone = enrolled(ada, clock).phone
    token, code = challenge(api, ada), phone.next_code()
    ada.change(status="suspended")
    assert finish(api, token, 400, otp=code).json["code"] == "inactive_account"
    ada.change(status="active")
    finish(api, token, otp=code)


def test_sign_in_after_logout(ada: Person, api: Api, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    mfa.api.delete("/logout")
    answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json
    api.as_token(answer["access_token"]).get("/account")


@only_on("sqlite")
def test_mfa_with_the_state_store_in_the_same_database(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    """SQLite has one writer: a write to the state store inside the transaction would deadlock."""
    app = make_app(AUTH__MFA="required", AUTH__MFA_METHODS=METHODS, CORE__KEYSTORE="database")
    ada, api = person("ada", into=app), Api(app)
    token = log_in(api, ada.email, PASSWORD, 403).json["mfa_token"]
    mfa = enroll(api, clock, mfa_token=token)
    for method in ("otp", "recovery code", "one step"):
        mfa.api.delete("/logout")
        match method:
            case "otp":
                answer = finish(api, challenge(api, ada), otp=mfa.phone.next_code())
            case "recovery code":
                answer = finish(api, challenge(api, ada), recovery_code=mfa.recovery_codes[0])
            case _:
                form = {"username": ada.email, "password": PASSWORD, "otp": mfa.phone.next_code()}
                answer = api.post("/login", data=form)
        mfa.api = api.as_token(answer.json["access_token"])
    mfa.api.get("/account")


def test_provider_sign_in_requires_mfa(
    make_idp_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_idp_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)
    api = Api(app)
    phone = enrolled(person("ada", into=app), clock).phone
    refused = Visitor(api).sign_in("ada", 403).json
    assert refused["code"] == "mfa_required"
    token = finish(api, refused["mfa_token"], otp=phone.next_code()).json["access_token"]
    assert claims(api.as_token(token))["amr"] == ["fed", "otp", "mfa"]


def test_sign_in_by_the_application_requires_mfa(
    app: Flask, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        with pytest.raises(Problem, match="A second factor is required"):
            sign_in(account, by=("magic link",))
        assert sign_in(account, by=("magic link", "totp"))["access_token"]


def test_password_change_keeps_mfa_of_the_session(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    mfa = enrolled(ada, clock)
    body = {"current_password": PASSWORD, "new_password": "another password altogether"}
    answer = mfa.api.put("/account/password", json=body).json
    again = api.as_token(answer["access_token"])
    again.get("/authenticators")
    ada.password = "another password altogether"
    challenge(api, ada)


def test_password_reset_does_not_bypass_mfa(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    enrolled(ada, clock)
    api.post("/password-recovery", json={"email": ada.email})
    token, _ = mailed(mails, ada.email)
    ada.password = "another password altogether"
    api.post("/reset-password", json={"token": token, "new_password": ada.password})
    challenge(api, ada)


def test_email_change_requires_mfa(
    ada: Person, api: Api, clock: SteppingClock, mails: MailOutbox
) -> None:
    mfa = enrolled(ada, clock)
    new = "countess@example.com"
    mfa.api.post("/account/email", 202, json={"email": new})
    body = {"token": mailed(mails, new)[0]}
    refused = api.post("/account/email/confirm", 401, json={**body, "password": PASSWORD})
    assert refused.json["code"] == "reauthentication_required"
    clock.step(minutes=16)
    here = api.as_token(
        finish(api, challenge(api, ada), otp=mfa.phone.next_code()).json["access_token"]
    )
    clock.step(minutes=16)
    refused = here.post("/account/email/confirm", 401, json=body)
    assert refused.json["code"] == "reauthentication_required"
    assert here.get("/account").json["email"] == ADA
    again = here.post("/reauthenticate", json={"otp": mfa.phone.next_code()}).json
    here = here.as_token(again["access_token"])
    answer = here.post("/account/email/confirm", json=body).json
    assert answer["account"]["email"] == new, "signed in without another MFA challenge"


def test_application_route_can_require_mfa(app: Flask, ada: Person, clock: SteppingClock) -> None:
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
def test_invalid_body_is_a_422(api: Api, body: dict[str, object], fault: str) -> None:
    assert api.post("/login/mfa", 422, json=body).faults == [fault]


@for_each("token", ["x", "a.b.c", "W10.aaaaaa.bbbbbb", "\u20ac", " "])
def test_malformed_mfa_token_is_rejected(api: Api, token: str) -> None:
    finish(api, token, 400, otp="123456")


def test_passkey_is_rejected_where_passkeys_are_off(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    fields = ("clientDataJSON", "authenticatorData", "signature")
    credential = {"id": "QUJD", "rawId": "QUJD", "type": "public-key"}
    credential["response"] = dict.fromkeys(fields, "QUJD")  # type: ignore[assignment]
    finish(api, challenge(api, ada), 400, credential=credential)


def test_mfa_needs_one_more_query_at_each_step(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    queries_by_mode = {}
    for mode in ("off", "optional"):
        app = make_app(AUTH__MFA=mode, AUTH__MFA_METHODS=METHODS)
        someone = person(mode, into=app)
        someone.token()
        with noted_queries(app) as statements:
            someone.token()
        queries_by_mode[mode] = len(statements)
    assert queries_by_mode["optional"] == queries_by_mode["off"] + 1
    phone, api = enrolled(someone, clock).phone, Api(app)
    finish(api, challenge(api, someone), otp=phone.next_code())
    token, code = challenge(api, someone), phone.next_code()
    with noted_queries(app) as statements:
        finish(api, token, otp=code)
    assert len(statements) == queries_by_mode["optional"] + 1


def test_admins_filter_accounts_by_mfa(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional")
    ada, admin = person("ada", into=app), person("grace", role="admin", into=app).api()

    def names(mfa: str) -> set[str]:
        answer = admin.get("/admin/accounts", query_string={"mfa": mfa})
        return {each["email"].partition("@")[0] for each in answer.json}

    assert (names("true"), names("false")) == (set(), {"ada", "grace"})
    ada.api().post("/authenticators/totp", 201, json={})
    assert names("true") == set()
    enrolled(ada, clock)
    assert (names("true"), names("false")) == ({"ada"}, {"grace"})
    without = person("bob", role="admin", into=make_app()).api()
    without.get("/admin/accounts", 422, query_string={"mfa": "true"})
