"""Step-up: re-authentication renews the current sign-in, and no other."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from flask import Flask

from app import active_account_required, fresh_required
from app.auth.settings import AuthSettings
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..audit.entries import records, types
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from .factors import challenge, enrolled, finish
from .test_login import log_in
from .test_login_codes import ask, mailed_code

SETTINGS = {
    "stateless": {"AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": "60", "AUTH__MFA": "optional"},
    "sessions": {
        "AUTH__ACCESS_TOKEN_EXPIRE_MINUTES": "60",
        "AUTH__MFA": "optional",
        "AUTH__SESSIONS": "on",
    },
}


@pytest.fixture(params=SETTINGS)
def app(request: pytest.FixtureRequest, make_app: MakeApp) -> Flask:
    app = make_app(**SETTINGS[request.param], AUTH__LOGIN_BY_CODE="on", AUTH__ACCOUNT_DELETION="on")

    guard_routes(app)
    return app


def guard_routes(app: Flask) -> None:
    # [guards]
    @app.post("/api/v1/notes/exports")
    @active_account_required
    @fresh_required()
    def export_notes() -> str:
        return "exported"

    @app.post("/api/v1/notes/owner")
    @active_account_required
    @fresh_required(minutes=5, factors=2)
    def transfer_notes() -> str:
        return "transferred"

    # [end]


def reauthenticate(api: Api, status: int = 200, **proof: Any) -> Answer:
    return api.post("/reauthenticate", status, json=proof)


def renewed(api: Api, **proof: Any) -> Api:
    return api.as_token(reauthenticate(api, **proof).json["access_token"])


def claims(api: Api) -> dict[str, Any]:
    assert api.token
    found: dict[str, Any] = jwt.decode(api.token, options={"verify_signature": False})
    return found


def test_password_renews_the_sign_in(ada: Person, clock: SteppingClock) -> None:
    here = ada.api()
    clock.step(minutes=16)
    here.post("/notes/exports", 401)
    again = renewed(here, password=PASSWORD)
    assert again.post("/notes/exports").response.text == "exported"
    assert again.get("/account").json["id"] == ada.id


def test_default_mode_returns_the_login_response(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app()
    ada = person("ada", into=app)
    login = log_in(Api(app), ada.email, PASSWORD).json
    here = Api(app, token=login["access_token"])
    clock.step(minutes=20)
    answer = reauthenticate(here, password=PASSWORD).json
    again = here.as_token(answer["access_token"])
    assert (set(answer), set(claims(again))) == (set(login), set(claims(here)))
    clock.step(minutes=20)
    here.get("/account", 401)
    again.get("/account")


def test_reauthentication_is_no_sign_in_in_the_audit_log(app: Flask, ada: Person) -> None:
    here = ada.api()
    before = types(app)
    renewed(here, password=PASSWORD)
    assert types(app)[len(before) :] == ["reauthentication.succeeded"]
    [entry] = records(app, type="reauthentication.succeeded")
    assert (entry.actor_id, entry.account_id, entry.data) == (
        ada.id,
        ada.id,
        {"proofs": ["password"]},
    )


def test_wrong_passwords_share_a_limit_with_login(app: Flask, ada: Person) -> None:
    here = ada.api()
    for _ in range(3):
        assert reauthenticate(here, 400, password="wrong").json["code"] == "incorrect_credentials"
    for _ in range(2):
        log_in(here.as_token(None), ada.email, "wrong", 400)
    reauthenticate(here, 429, password=PASSWORD)
    refused = records(app, type="reauthentication.refused")
    assert [each.account_id for each in refused] == [ada.id] * 3
    here.get("/account")


def test_other_wrong_proofs_are_counted(
    ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    ada_mfa = enrolled(ada, clock)
    here = ada_mfa.api
    for _ in range(2):
        reauthenticate(here, 400, otp=ada_mfa.phone.wrong_code())
        reauthenticate(here, 400, recovery_code="aaaa-aaaa")
    reauthenticate(here, 400, code="00000000", login_id=ask(here)["login_id"])
    reauthenticate(here, 429, otp=ada_mfa.phone.next_code())
    log_in(here.as_token(None), ada.email, PASSWORD, 429)


def test_password_of_another_account_is_rejected(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    person("grace", password="the password of Grace")
    reauthenticate(ada.api(), 400, password="the password of Grace")


def test_unauthenticated_and_inactive_callers_are_rejected(app: Flask, ada: Person) -> None:
    reauthenticate(Api(app), 401, password=PASSWORD)
    here = ada.api()
    ada.change(status="inactive")
    keeps_sessions = app.extensions["frontdesk"].settings.of(AuthSettings).keeps_sessions
    # An inactive account ends sessions, but a token without a session is only suspended.
    code = "invalid_credentials" if keeps_sessions else "account_inactive"
    assert reauthenticate(here, 401, password=PASSWORD).json["code"] == code


@for_each(
    "body",
    [
        {},
        {"password": PASSWORD, "otp": "123456"},
        {"code": "12345678"},
        {"login_id": "x"},
        {"password": 7},
        {"credential": "text"},
        {"otp": None},
    ],
)
def test_exactly_one_proof_is_required(ada: Person, body: dict[str, Any]) -> None:
    reauthenticate(ada.api(), 422, **body)


@pytest.mark.parametrize(
    "proof",
    [{"recovery_code": "aaaa-bbbb"}, {"credential": {}}, {"code": "12345678", "login_id": "x"}],
)
def test_disabled_method_is_a_422(
    make_app: MakeApp, person: MakePerson, proof: dict[str, Any]
) -> None:
    app = make_app()
    here = Api(app, token=person("ada", into=app).token())
    assert reauthenticate(here, 422, **proof).faults == [f"json:{next(iter(proof))}"]


def test_emailed_code_reauthenticates(ada: Person, mails: MailOutbox, clock: SteppingClock) -> None:
    here = ada.api()
    clock.step(minutes=16)
    proof = {"login_id": ask(here)["login_id"], "code": mailed_code(mails)}
    renewed(here, **proof).post("/notes/exports")
    reauthenticate(here, 400, **proof)


def test_code_emailed_to_another_address_is_rejected(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    grace, here = person("grace"), ada.api()
    proof = {
        "login_id": ask(here, grace.email)["login_id"],
        "code": mailed_code(mails, grace.email),
    }
    reauthenticate(here, 400, **proof)
    reauthenticate(grace.api(), **proof)


def test_second_factor_renews_mfa(ada: Person, clock: SteppingClock) -> None:
    ada_mfa = enrolled(ada, clock)
    here = ada_mfa.api
    here.post("/notes/owner")
    clock.step(minutes=6)
    assert here.post("/notes/owner", 401).json["acr_values"] == "mfa"
    here.post("/notes/exports")
    renewed_api = renewed(here, otp=ada_mfa.phone.next_code())
    assert renewed_api.post("/notes/owner").response.text == "transferred"
    assert {"otp", "mfa"} <= set(claims(renewed_api)["amr"])
    clock.step(minutes=6)
    again = renewed(renewed_api, recovery_code=ada_mfa.recovery_codes[0])
    again.post("/notes/owner")
    reauthenticate(again, 400, recovery_code=ada_mfa.recovery_codes[0])


def test_second_factor_of_another_account_is_rejected(
    ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    """Covers GHSA-f66q-9rf6-8795 and GHSA-97r5-pg8x-p63p."""
    ada_mfa, grace_mfa = enrolled(ada, clock), enrolled(person("grace"), clock)
    reauthenticate(ada_mfa.api, 400, otp=grace_mfa.phone.next_code())
    reauthenticate(ada_mfa.api, 400, recovery_code=grace_mfa.recovery_codes[0])
    reauthenticate(grace_mfa.api, otp=grace_mfa.phone.code())


def test_totp_code_is_single_use(ada: Person, clock: SteppingClock) -> None:
    ada_mfa = enrolled(ada, clock)
    code = ada_mfa.phone.next_code()
    reauthenticate(ada_mfa.api, otp=code)
    reauthenticate(ada_mfa.api, 400, otp=code)


def test_trusted_device_is_no_second_factor(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__MFA_TRUST_DAYS="30")
    ada = person("ada", into=app)
    ada_mfa = enrolled(ada, clock)
    token = challenge(ada_mfa.api, ada)
    otp = ada_mfa.phone.next_code()
    device = finish(ada_mfa.api, token, otp=otp, trust=True).json["trusted_device"]
    headers = {"X-Trusted-Device": device}
    answer = log_in(Api(app), ada.email, PASSWORD, headers=headers).json
    here = Api(app, token=answer["access_token"])
    body = {"email": "a@example.com", "password": PASSWORD}
    assert here.post("/account/email", 401, json=body).json["acr_values"] == "mfa"


SENSITIVE_ROUTES = [
    ("PUT", "/account/password", {"current_password": PASSWORD, "new_password": "quite another 1"}),
    ("POST", "/account/email", {"email": "a@example.com", "password": PASSWORD}),
    ("DELETE", "/account", {"password": PASSWORD}),
]


@pytest.mark.parametrize(("method", "path", "body"), SENSITIVE_ROUTES)
def test_sensitive_route_requires_mfa_in_addition_to_the_password(
    ada: Person, clock: SteppingClock, method: str, path: str, body: dict[str, Any]
) -> None:
    ada_mfa = enrolled(ada, clock)
    here = ada_mfa.api
    clock.step(minutes=16)
    refused = here.send(method, path, 401, json=body).json
    assert (refused["code"], refused["acr_values"]) == ("reauthentication_required", "mfa")
    status = 200 if method == "PUT" else 202
    renewed(here, otp=ada_mfa.phone.next_code()).send(method, path, status, json=body)


def test_missing_mfa_is_reported_before_the_password(ada: Person, clock: SteppingClock) -> None:
    here = enrolled(ada, clock).api
    clock.step(minutes=16)
    assert here.delete("/account", 401).json["acr_values"] == "mfa"
    assert here.delete("/account", 400, json={"password": "wrong"}).json["code"] == (
        "incorrect_credentials"
    )


@pytest.mark.parametrize(("method", "path", "body"), SENSITIVE_ROUTES)
def test_account_without_mfa_needs_only_the_password(
    ada: Person, clock: SteppingClock, method: str, path: str, body: dict[str, Any]
) -> None:
    here = ada.api()
    clock.step(minutes=16)
    here.send(method, path, 200 if method == "PUT" else 202, json=body)


class TestWithoutSessions:
    """Without sessions, a new token is a new sign-in."""

    @pytest.fixture
    def app(self, make_app: MakeApp) -> Flask:
        return make_app(**SETTINGS["stateless"])

    def test_password_alone_does_not_renew_mfa(self, ada: Person, clock: SteppingClock) -> None:
        ada_mfa = enrolled(ada, clock)
        here = ada_mfa.api
        clock.step(minutes=16)
        assert reauthenticate(here, 401, password=PASSWORD).json["acr_values"] == "mfa"
        renewed_api = renewed(here, otp=ada_mfa.phone.next_code())
        reauthenticate(renewed(renewed_api, password=PASSWORD), 401, password=PASSWORD)


class TestWithSessions:
    @pytest.fixture
    def app(self, make_app: MakeApp) -> Flask:
        app = make_app(**SETTINGS["sessions"], AUTH__SESSION_DAYS="1")
        guard_routes(app)
        return app

    def test_session_is_kept_and_no_other_is_renewed(
        self, ada: Person, clock: SteppingClock
    ) -> None:
        here, elsewhere = ada.api(), ada.api()
        clock.step(minutes=16)
        again = renewed(here, password=PASSWORD)
        assert claims(again)["sid"] == claims(here)["sid"] != claims(elsewhere)["sid"]
        assert claims(again)["auth_time"] >= claims(here)["auth_time"] + 960
        here.post("/notes/exports")
        elsewhere.post("/notes/exports", 401)

    def test_password_does_not_renew_mfa(self, ada: Person, clock: SteppingClock) -> None:
        here = enrolled(ada, clock).api
        clock.step(minutes=16)
        again = renewed(here, password=PASSWORD)
        body = {"email": "a@example.com", "password": PASSWORD}
        assert again.post("/account/email", 401, json=body).json["acr_values"] == "mfa"

    @only_on("sqlite")
    def test_step_up_extends_the_session_up_to_its_maximum(
        self, ada: Person, clock: SteppingClock
    ) -> None:
        here = ada.api()
        for _ in range(23):
            clock.step(minutes=59)
            here = renewed(here, password=PASSWORD)
        clock.step(minutes=59)
        here = renewed(here, password=PASSWORD)
        clock.step(minutes=30)
        here.get("/account", 401)

    def test_ended_session_stays_ended(self, ada: Person) -> None:
        here = ada.api()
        ada.change(password="quite another password")
        reauthenticate(here, 401, password="quite another password")
