"""A guard of a host's: for what is dangerous, whoever comes has just signed in."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app import active_account_required, fresh_required
from app.core.errors import SetupError
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")

    @app.delete("/api/v1/everything")
    @active_account_required
    @fresh_required(minutes=5)
    def delete_everything() -> str:
        return "gone"

    return app


def test_an_old_sign_in_is_refused_in_the_words_of_the_standard(
    ada: Person, clock: SteppingClock
) -> None:
    here = ada.api()
    assert here.delete("/everything").response.text == "gone"
    clock.step(minutes=5, seconds=2)
    refused = here.delete("/everything", 401)
    assert (refused.json["code"], refused.json["max_age"]) == ("reauthentication_required", 300)
    assert refused.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_user_authentication", max_age="300"'
    )
    here.get("/account")
    ada.api().delete("/everything")


def test_nobody_at_all_is_refused_as_everywhere(api: Api, ada: Person) -> None:
    answer = api.delete("/everything", 401)
    assert answer.json["code"] == "invalid_credentials"
    here = ada.api()
    ada.change(status="inactive")
    assert here.delete("/everything", 401).json["code"] == "account_inactive"


def test_how_many_minutes_is_a_setting_where_the_guard_says_none(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__FRESH_MINUTES="2")

    @app.delete("/api/v1/everything")
    @active_account_required
    @fresh_required()
    def delete_everything() -> str:
        return "gone"

    here = Api(app, token=person("ada", into=app).token())
    here.delete("/everything")
    clock.step(minutes=2, seconds=2)
    assert here.delete("/everything", 401).json["max_age"] == 120


def test_a_guard_that_asks_for_two_factors_lets_nobody_in_with_one(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app()

    @app.delete("/api/v1/everything")
    @active_account_required
    @fresh_required(factors=2)
    def delete_everything() -> str:
        return "gone"

    here = Api(app, token=person("ada", into=app).token())
    refused = here.delete("/everything", 401)
    assert refused.json["acr_values"] == "mfa"
    assert refused.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_user_authentication", max_age="900", acr_values="mfa"'
    )


WRONG = [{"minutes": len}, {"minutes": 0}, {"minutes": -1}, {"minutes": "15"}, {"factors": 3}]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_it_does_not_take_is_told_with_how_it_is_written(wrong: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=r"@fresh_required\(minutes=15\)"):
        fresh_required(**wrong)
