"""Showing once more who one is: the sign-in that asks becomes as good as new, and no other."""

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

from ..audit.reading import records, types
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
    @app.post("/api/v1/payouts")
    @active_account_required
    @fresh_required()
    def pay_out() -> str:
        return "on its way"

    @app.post("/api/v1/payouts/account")
    @active_account_required
    @fresh_required(minutes=5, factors=2)
    def change_bank_account() -> str:
        return "changed"

    # [end]


def show(api: Api, status: int = 200, **given: Any) -> Answer:
    return api.post("/reauthenticate", status, json=given)


def renewed(api: Api, **given: Any) -> Api:
    return api.as_token(show(api, **given).json["access_token"])


def claims(api: Api) -> dict[str, Any]:
    assert api.token
    found: dict[str, Any] = jwt.decode(api.token, options={"verify_signature": False})
    return found


def test_the_password_makes_a_sign_in_as_good_as_new(ada: Person, clock: SteppingClock) -> None:
    here = ada.api()
    clock.step(minutes=16)
    here.post("/payouts", 401)
    again = renewed(here, password=PASSWORD)
    assert again.post("/payouts").response.text == "on its way"
    assert again.get("/account").json["id"] == ada.id


def test_in_the_contracts_own_mode_it_answers_as_the_login_does(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app()
    ada = person("ada", into=app)
    login = log_in(Api(app), ada.email, PASSWORD).json
    here = Api(app, token=login["access_token"])
    clock.step(minutes=20)
    answer = show(here, password=PASSWORD).json
    again = here.as_token(answer["access_token"])
    assert (set(answer), set(claims(again))) == (set(login), set(claims(here)))
    clock.step(minutes=20)
    here.get("/account", 401)
    again.get("/account")


def test_nobody_signs_in_by_it(app: Flask, ada: Person) -> None:
    here = ada.api()
    before = types(app)
    renewed(here, password=PASSWORD)
    assert types(app)[len(before) :] == ["reauthentication.succeeded"]
    [done] = records(app, type="reauthentication.succeeded")
    assert (done.actor_id, done.account_id, done.data) == (ada.id, ada.id, {"proofs": ["password"]})


def test_a_wrong_password_is_counted_with_those_at_the_door(app: Flask, ada: Person) -> None:
    here = ada.api()
    for _ in range(3):
        assert show(here, 400, password="wrong").json["code"] == "incorrect_credentials"
    for _ in range(2):
        log_in(here.as_token(None), ada.email, "wrong", 400)
    show(here, 429, password=PASSWORD)
    refused = records(app, type="reauthentication.refused")
    assert [each.account_id for each in refused] == [ada.id] * 3
    here.get("/account")


def test_other_wrong_proofs_are_counted_too(
    ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    ada_with = enrolled(ada, clock)
    here = ada_with.api
    for _ in range(2):
        show(here, 400, otp=ada_with.phone.wrong_code())
        show(here, 400, recovery_code="aaaa-aaaa")
    show(here, 400, code="00000000", login_id=ask(here)["login_id"])
    show(here, 429, otp=ada_with.phone.next_code())
    log_in(here.as_token(None), ada.email, PASSWORD, 429)


def test_anothers_password_is_not_ones_own(app: Flask, ada: Person, person: MakePerson) -> None:
    person("grace", password="the password of Grace")
    show(ada.api(), 400, password="the password of Grace")


def test_nobody_at_all_shows_nothing(app: Flask, ada: Person) -> None:
    show(Api(app), 401, password=PASSWORD)
    here = ada.api()
    ada.change(status="inactive")
    keeps_sessions = app.extensions["frontdesk"].settings.of(AuthSettings).keeps_sessions
    # A session ends with that, and a token only rests.
    code = "invalid_credentials" if keeps_sessions else "account_inactive"
    assert show(here, 401, password=PASSWORD).json["code"] == code


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
def test_one_way_is_shown_and_no_more(ada: Person, body: dict[str, Any]) -> None:
    show(ada.api(), 422, **body)


@pytest.mark.parametrize(
    "given",
    [{"recovery_code": "aaaa-bbbb"}, {"credential": {}}, {"code": "12345678", "login_id": "x"}],
)
def test_a_way_that_is_not_switched_on_is_none(
    make_app: MakeApp, person: MakePerson, given: dict[str, Any]
) -> None:
    app = make_app()
    here = Api(app, token=person("ada", into=app).token())
    assert show(here, 422, **given).faults == [f"json:{next(iter(given))}"]


def test_a_mailed_code_shows_who_one_is(
    ada: Person, mails: MailOutbox, clock: SteppingClock
) -> None:
    here = ada.api()
    clock.step(minutes=16)
    proof = {"login_id": ask(here)["login_id"], "code": mailed_code(mails)}
    renewed(here, **proof).post("/payouts")
    show(here, 400, **proof)


def test_a_code_mailed_to_somebody_else_does_not(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    grace, here = person("grace"), ada.api()
    proof = {
        "login_id": ask(here, grace.email)["login_id"],
        "code": mailed_code(mails, grace.email),
    }
    show(here, 400, **proof)
    show(grace.api(), **proof)


def test_a_second_factor_is_fresh_once_it_is_shown(ada: Person, clock: SteppingClock) -> None:
    ada_with = enrolled(ada, clock)
    here = ada_with.api
    here.post("/payouts/account")
    clock.step(minutes=6)
    assert here.post("/payouts/account", 401).json["acr_values"] == "mfa"
    here.post("/payouts")
    shown = renewed(here, otp=ada_with.phone.next_code())
    assert shown.post("/payouts/account").response.text == "changed"
    assert {"otp", "mfa"} <= set(claims(shown)["amr"])
    clock.step(minutes=6)
    again = renewed(shown, recovery_code=ada_with.recovery_codes[0])
    again.post("/payouts/account")
    show(again, 400, recovery_code=ada_with.recovery_codes[0])


def test_anothers_second_factor_is_not_ones_own(
    ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    """As in GHSA-f66q-9rf6-8795 and GHSA-97r5-pg8x-p63p, where it was."""
    ada_with, grace_with = enrolled(ada, clock), enrolled(person("grace"), clock)
    show(ada_with.api, 400, otp=grace_with.phone.next_code())
    show(ada_with.api, 400, recovery_code=grace_with.recovery_codes[0])
    show(grace_with.api, otp=grace_with.phone.code())


def test_a_code_of_an_app_is_used_up_by_it(ada: Person, clock: SteppingClock) -> None:
    ada_with = enrolled(ada, clock)
    code = ada_with.phone.next_code()
    show(ada_with.api, otp=code)
    show(ada_with.api, 400, otp=code)


def test_a_trusted_device_is_no_second_factor(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__MFA_TRUST_DAYS="30")
    ada = person("ada", into=app)
    ada_with = enrolled(ada, clock)
    token = challenge(ada_with.api, ada)
    otp = ada_with.phone.next_code()
    device = finish(ada_with.api, token, otp=otp, trust=True).json["trusted_device"]
    headers = {"X-Trusted-Device": device}
    answer = log_in(Api(app), ada.email, PASSWORD, headers=headers).json
    here = Api(app, token=answer["access_token"])
    body = {"email": "a@example.com", "password": PASSWORD}
    assert here.post("/account/email", 401, json=body).json["acr_values"] == "mfa"


DANGEROUS = [
    ("PUT", "/account/password", {"current_password": PASSWORD, "new_password": "quite another 1"}),
    ("POST", "/account/email", {"email": "a@example.com", "password": PASSWORD}),
    ("DELETE", "/account", {"password": PASSWORD}),
]


@pytest.mark.parametrize(("method", "path", "body"), DANGEROUS)
def test_what_protects_an_account_is_not_taken_from_it_by_the_password_alone(
    ada: Person, clock: SteppingClock, method: str, path: str, body: dict[str, Any]
) -> None:
    ada_with = enrolled(ada, clock)
    here = ada_with.api
    clock.step(minutes=16)
    refused = here.send(method, path, 401, json=body).json
    assert (refused["code"], refused["acr_values"]) == ("reauthentication_required", "mfa")
    status = 200 if method == "PUT" else 202
    renewed(here, otp=ada_with.phone.next_code()).send(method, path, status, json=body)


def test_who_needs_a_second_factor_is_not_asked_for_the_password_first(
    ada: Person, clock: SteppingClock
) -> None:
    here = enrolled(ada, clock).api
    clock.step(minutes=16)
    assert here.delete("/account", 401).json["acr_values"] == "mfa"
    assert here.delete("/account", 400, json={"password": "wrong"}).json["code"] == (
        "incorrect_credentials"
    )


@pytest.mark.parametrize(("method", "path", "body"), DANGEROUS)
def test_of_an_account_without_a_second_factor_none_is_asked(
    ada: Person, clock: SteppingClock, method: str, path: str, body: dict[str, Any]
) -> None:
    here = ada.api()
    clock.step(minutes=16)
    here.send(method, path, 200 if method == "PUT" else 202, json=body)


class TestWithoutSessions:
    """A token is a sign-in by itself, and another one is another sign-in."""

    @pytest.fixture
    def app(self, make_app: MakeApp) -> Flask:
        return make_app(**SETTINGS["stateless"])

    def test_the_password_alone_is_no_way_past_the_second_factor(
        self, ada: Person, clock: SteppingClock
    ) -> None:
        ada_with = enrolled(ada, clock)
        here = ada_with.api
        clock.step(minutes=16)
        assert show(here, 401, password=PASSWORD).json["acr_values"] == "mfa"
        shown = renewed(here, otp=ada_with.phone.next_code())
        show(renewed(shown, password=PASSWORD), 401, password=PASSWORD)


class TestWithSessions:
    @pytest.fixture
    def app(self, make_app: MakeApp) -> Flask:
        app = make_app(**SETTINGS["sessions"], AUTH__SESSION_DAYS="1")
        guard_routes(app)
        return app

    def test_the_same_session_goes_on_and_no_other_is_fresh(
        self, ada: Person, clock: SteppingClock
    ) -> None:
        here, elsewhere = ada.api(), ada.api()
        clock.step(minutes=16)
        again = renewed(here, password=PASSWORD)
        assert claims(again)["sid"] == claims(here)["sid"] != claims(elsewhere)["sid"]
        assert claims(again)["auth_time"] >= claims(here)["auth_time"] + 960
        here.post("/payouts")
        elsewhere.post("/payouts", 401)

    def test_a_password_makes_no_second_factor_fresh(
        self, ada: Person, clock: SteppingClock
    ) -> None:
        here = enrolled(ada, clock).api
        clock.step(minutes=16)
        again = renewed(here, password=PASSWORD)
        body = {"email": "a@example.com", "password": PASSWORD}
        assert again.post("/account/email", 401, json=body).json["acr_values"] == "mfa"

    @only_on("sqlite")
    def test_it_prolongs_a_session_as_far_as_sessions_last(
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

    def test_an_ended_one_stays_ended(self, ada: Person) -> None:
        here = ada.api()
        ada.change(password="quite another password")
        show(here, 401, password="quite another password")
