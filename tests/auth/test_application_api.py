"""Methods for views of the application: the MFA step, step-up, sessions and authenticators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import app as flask_frontdesk
from app import Frontdesk, Problem, SecondFactorRequired, SetupError
from app.auth.settings import AuthSettings
from app.blueprints import auth, mfa, sessions
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.people import PASSWORD, make_person

from ..rigs.hosts import HostSettings, host_with
from .factors import Phone

KEYS = ["a key for secrets of authenticators, long enough"]


class Calls:
    """A Flask application with one view, which runs a test's function as the authenticated
    caller."""

    def __init__(self, clock: SteppingClock, **settings: Any) -> None:
        self.clock, self.frontdesk = clock, Frontdesk()
        chosen = HostSettings()
        chosen.AUTH = AuthSettings(BCRYPT_ROUNDS=4, ENCRYPTION_KEYS=KEYS, **settings)
        self.host: Flask = host_with(
            (auth, ""),
            *([(mfa, "")] if settings.get("MFA", "off") != "off" else []),
            *([(sessions, "")] if settings.get("SESSIONS") == "on" else []),
            frontdesk=self.frontdesk,
            settings=chosen,
            parts=flask_frontdesk.Parts(clock=clock),
        )
        self.call: Callable[[], Any] = dict
        self.host.add_url_rule("/run", "run", self._run, methods=["POST"])
        recent = flask_frontdesk.fresh_required(minutes=5)
        self.host.add_url_rule("/fresh", "fresh", recent(lambda: "fresh"))
        self.ada = make_person(self.host, "ada")

    def _run(self) -> dict[str, Any]:
        try:
            return {"returned": self.call()}
        except Problem as problem:
            return {"code": problem.code, "members": problem.members}

    def run(self, call: Callable[[], Any], token: str | None = None) -> dict[str, Any]:
        self.call = call
        answer: dict[str, Any] = Api(self.host, "", token).post("/run").json
        return answer

    def sign_in(self, **more: Any) -> dict[str, Any]:
        def call() -> Any:
            account = self.frontdesk.verify_password(self.ada.email, PASSWORD)
            return self.frontdesk.sign_in(account, how="password", **more)

        return self.run(call)

    def code(self, secret: str) -> str:
        return Phone(secret, self.clock).next_code()


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def calls(clock: SteppingClock) -> Calls:
    return Calls(clock, MFA="optional", SESSIONS="on", MFA_TRUST_DAYS=30)


@pytest.fixture
def enrolled(calls: Calls) -> tuple[str, list[str]]:
    """Return the TOTP secret and the recovery codes of Ada's authenticator app."""
    token = calls.sign_in()["returned"]["access_token"]
    authenticators = calls.frontdesk.authenticators
    setup = calls.run(lambda: authenticators.begin_app("Phone")._asdict(), token)["returned"]
    secret = setup["secret"].replace(" ", "")
    assert setup["qr"].startswith("<svg")
    done = calls.run(lambda: authenticators.confirm_app(setup["id"], calls.code(secret)), token)
    assert done["returned"].keys() >= {"access_token", "recovery_codes", "account"}
    assert "code" in calls.run(calls.frontdesk.sessions.list, token), (
        "enrollment revoked earlier sessions"
    )
    return secret, done["returned"]["recovery_codes"]


def test_finish_sign_in_returns_what_the_route_returns(
    calls: Calls, enrolled: tuple[str, list[str]]
) -> None:
    secret, _ = enrolled
    refused = calls.sign_in()
    assert refused["code"] == "mfa_required"
    assert refused["members"]["methods"] == ["totp", "recovery"]
    token = refused["members"]["mfa_token"]
    finish = calls.frontdesk.finish_sign_in
    own = calls.run(lambda: finish(token, otp=calls.code(secret)))["returned"]
    again = calls.sign_in()["members"]["mfa_token"]
    body = {"mfa_token": again, "otp": calls.code(secret)}
    route = Api(calls.host, "").post("/login/mfa", json=body).json
    assert own.keys() == route.keys()
    assert Api(calls.host, "", own["access_token"]).get("/sessions").json[0]["amr"] == [
        "pwd",
        "otp",
        "mfa",
    ]
    used = calls.run(lambda: finish(token, otp=calls.code(secret)))
    assert used["code"] == "invalid_token"


def test_recovery_code_and_trusted_device(calls: Calls, enrolled: tuple[str, list[str]]) -> None:
    _, codes = enrolled
    finish = calls.frontdesk.finish_sign_in
    token = calls.sign_in()["members"]["mfa_token"]
    done = calls.run(lambda: finish(token, recovery_code=codes[0], trust=True))["returned"]
    device = done["trusted_device"]
    assert "access_token" in calls.sign_in(trusted_device=device)["returned"]
    assert calls.sign_in(trusted_device="another")["code"] == "mfa_required"
    token = calls.sign_in()["members"]["mfa_token"]
    assert calls.run(lambda: finish(token, recovery_code=codes[0]))["code"] == "incorrect_code"


def test_code_is_accepted_with_the_password(calls: Calls, enrolled: tuple[str, list[str]]) -> None:
    secret, _ = enrolled
    assert "access_token" in calls.sign_in(otp=calls.code(secret))["returned"]
    assert calls.sign_in(otp="000000")["code"] == "incorrect_code"


@pytest.mark.parametrize("code", ["", "0" * 100_000, "１２３４５６", "\x00", "⚿ ☃"])  # noqa: RUF001
def test_malformed_code_is_incorrect(
    calls: Calls, enrolled: tuple[str, list[str]], code: str
) -> None:
    finish = calls.frontdesk.finish_sign_in
    token = calls.sign_in()["members"]["mfa_token"]
    assert calls.run(lambda: finish(token, otp=code))["code"] == "incorrect_code"
    assert calls.run(lambda: finish(token, recovery_code=code))["code"] == "incorrect_code"
    assert calls.run(lambda: finish(code, otp="000000"))["code"] == "invalid_token"
    signed_in = calls.run(lambda: finish(token, otp=calls.code(enrolled[0])))["returned"]
    again = calls.frontdesk.reauthenticate
    token = signed_in["access_token"]
    assert calls.run(lambda: again(otp=code), token)["code"] == "incorrect_code"


def test_wrong_codes_in_calls_and_routes_share_a_limit(
    calls: Calls, enrolled: tuple[str, list[str]]
) -> None:
    finish, token = calls.frontdesk.finish_sign_in, calls.sign_in()["members"]["mfa_token"]
    body = {"mfa_token": token, "otp": "000000"}
    for _ in range(3):
        Api(calls.host, "").post("/login/mfa", 400, json=body)
    for _ in range(2):
        assert calls.run(lambda: finish(token, otp="000000"))["code"] == "incorrect_code"
    assert calls.run(lambda: finish(token, otp="000000"))["code"] == "too_many_attempts"


def test_exactly_one_proof_is_required(calls: Calls, enrolled: tuple[str, list[str]]) -> None:
    finish, again = calls.frontdesk.finish_sign_in, calls.frontdesk.reauthenticate
    assert calls.run(lambda: finish("token"))["code"] == "validation_error"
    both = calls.run(lambda: finish("token", otp="1", recovery_code="2"))
    assert both["code"] == "validation_error"
    assert calls.run(again)["code"] == "validation_error"


def test_step_up_renews_only_the_current_session(calls: Calls, clock: SteppingClock) -> None:
    first = calls.sign_in()["returned"]["access_token"]
    second = calls.sign_in()["returned"]["access_token"]
    clock.step(minutes=10)
    Api(calls.host, "", first).get("/fresh", 401)
    again = calls.frontdesk.reauthenticate
    wrong = calls.run(lambda: again(password="wrong password"), first)
    assert wrong["code"] == "incorrect_credentials"
    renewed = calls.run(lambda: again(password=PASSWORD), first)["returned"]["access_token"]
    Api(calls.host, "", renewed).get("/fresh")
    Api(calls.host, "", second).get("/fresh", 401)


def test_step_up_requires_an_active_caller(clock: SteppingClock) -> None:
    calls = Calls(clock)
    again = calls.frontdesk.reauthenticate
    assert calls.run(lambda: again(password=PASSWORD))["code"] == "invalid_credentials"
    token = calls.sign_in()["returned"]["access_token"]
    assert "access_token" in calls.run(lambda: again(password=PASSWORD), token)["returned"]
    with calls.host.app_context():
        account = calls.frontdesk.accounts.get(calls.ada.email)
        calls.frontdesk.accounts.change(account, status="inactive")
    refused = calls.run(lambda: again(password=PASSWORD), token)
    assert refused["code"] == "account_inactive"


def test_sessions_are_listed_and_ended(calls: Calls) -> None:
    tokens = [calls.sign_in()["returned"]["access_token"] for _ in range(3)]
    sessions = calls.frontdesk.sessions

    def listed() -> list[Any]:
        return [(each.id, each.current) for each in sessions.list()]

    shown = calls.run(listed, tokens[0])["returned"]
    assert [current for _, current in shown] == [False, False, True]
    assert len(calls.run(lambda: sessions.list(limit=2), tokens[0])["returned"]) == 2
    newest = shown[0][0]
    ended = calls.run(lambda: sessions.end(newest)._asdict(), tokens[0])["returned"]
    assert (ended["id"], ended["current"]) == (newest, False)
    assert calls.run(lambda: sessions.end(newest)._asdict(), tokens[0])["code"] == (
        "session_not_found"
    )
    assert calls.run(lambda: sessions.end("no id")._asdict(), tokens[0])["code"] == (
        "session_not_found"
    )
    assert calls.run(lambda: sessions.end_all(others=True), tokens[0])["returned"] == 1
    assert len(calls.run(listed, tokens[0])["returned"]) == 1
    assert calls.run(sessions.end_all, tokens[0])["returned"] == 1
    assert calls.run(listed)["code"] == "invalid_credentials"


def test_another_accounts_session_is_not_found(calls: Calls) -> None:
    own = calls.sign_in()["returned"]["access_token"]
    bob = make_person(calls.host, "bob")
    form = {"username": bob.email, "password": PASSWORD}
    token = Api(calls.host, "").post("/login", data=form).json["access_token"]
    sessions = calls.frontdesk.sessions
    other_session = calls.run(lambda: sessions.list()[0].id, token)["returned"]
    refused = calls.run(lambda: sessions.end(other_session)._asdict(), own)
    assert refused["code"] == "session_not_found"


def test_authenticators_are_removed_and_codes_renewed_with_a_recent_factor(
    calls: Calls, enrolled: tuple[str, list[str]], clock: SteppingClock
) -> None:
    secret, codes = enrolled
    token = calls.sign_in(otp=calls.code(secret))["returned"]["access_token"]
    authenticators = calls.frontdesk.authenticators
    listed = calls.run(lambda: [each.id for each in authenticators.list()], token)["returned"]
    replaced = calls.run(authenticators.replace_recovery_codes, token)["returned"]
    # The caller's session stays, so there is no new token.
    assert replaced.keys() == {"recovery_codes"}
    made = calls.run(authenticators.make_recovery_codes, token)["returned"]
    assert len({*made, *replaced["recovery_codes"], *codes}) == 30
    clock.step(minutes=20)
    for call in (authenticators.make_recovery_codes, lambda: authenticators.remove(listed[0])):
        refused = calls.run(call, token)
        assert refused["code"] == "reauthentication_required"
        assert refused["members"]["acr_values"] == "mfa"
    again = calls.frontdesk.reauthenticate
    token = calls.run(lambda: again(otp=calls.code(secret)), token)["returned"]["access_token"]
    removed = calls.run(lambda: authenticators.remove(listed[0]), token)["returned"]
    assert removed["id"] == listed[0]
    assert calls.run(lambda: len(authenticators.list()), token)["returned"] == 0


def test_required_enrollment_signs_in(clock: SteppingClock) -> None:
    calls = Calls(clock, MFA="required")
    refused = calls.sign_in()
    assert refused["code"] == "mfa_enrolment_required"
    token = refused["members"]["mfa_token"]
    authenticators = calls.frontdesk.authenticators
    setup = calls.run(lambda: authenticators.begin_app(mfa_token=token)._asdict())["returned"]
    secret = setup["secret"].replace(" ", "")
    wrong = calls.run(lambda: authenticators.confirm_app(setup["id"], "000000", mfa_token=token))
    assert wrong["code"] == "incorrect_code"
    code = calls.code(secret)
    done = calls.run(lambda: authenticators.confirm_app(setup["id"], code, mfa_token=token))
    assert len(done["returned"]["recovery_codes"]) == 10
    assert "access_token" in done["returned"]
    assert calls.run(lambda: authenticators.begin_app())["code"] == "invalid_credentials"


def test_disabled_feature_is_named_in_the_error(clock: SteppingClock) -> None:
    calls = Calls(clock)
    frontdesk, host = calls.frontdesk, calls.host
    with host.test_request_context():
        for call in (
            lambda: frontdesk.finish_sign_in("token", otp="000000"),
            frontdesk.authenticators.list,
            frontdesk.authenticators.begin_app,
            frontdesk.authenticators.make_recovery_codes,
        ):
            with pytest.raises(SetupError, match=r"set AUTH\.MFA"):
                call()
        with pytest.raises(SetupError, match=r"set AUTH\.SESSIONS to `on`"):
            frontdesk.sessions.list()
        with pytest.raises(SetupError, match=r"set AUTH\.COOKIE_SESSIONS to `on`"):
            frontdesk.sign_in(frontdesk.accounts.get(calls.ada.email), by_cookie=True)


def test_caught_problem_has_members(calls: Calls, enrolled: tuple[str, list[str]]) -> None:
    with calls.host.app_context():
        account = calls.frontdesk.accounts.get(calls.ada.email)
        with pytest.raises(SecondFactorRequired) as caught:
            calls.frontdesk.sign_in(account, how="magic link")
        assert caught.value.members.keys() == {"mfa_token", "methods"}
        token, code = caught.value.members["mfa_token"], calls.code(enrolled[0])
        done = calls.frontdesk.finish_sign_in(token, otp=code)
    assert "access_token" in done
