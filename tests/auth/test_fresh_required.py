"""The `fresh_required` decorator: sensitive views require a recent sign-in."""

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


def test_old_sign_in_is_rejected_as_rfc_9470_requires(ada: Person, clock: SteppingClock) -> None:
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


def test_unauthenticated_and_inactive_callers_are_rejected(api: Api, ada: Person) -> None:
    answer = api.delete("/everything", 401)
    assert answer.json["code"] == "invalid_credentials"
    here = ada.api()
    ada.change(status="inactive")
    assert here.delete("/everything", 401).json["code"] == "account_inactive"


def test_minutes_default_to_the_setting(
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


def test_view_that_requires_mfa_rejects_single_factor_sign_in(
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
def test_invalid_arguments_raise_with_an_example(wrong: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=r"@fresh_required\(minutes=15\)"):
        fresh_required(**wrong)
