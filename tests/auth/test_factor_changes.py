"""Second factors are renamed and removed by their owner, and taken away by an operator."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from .factors import challenge, enrolled, finish
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
