"""A guard of a host's: for what is dangerous, whoever comes has just signed in."""

from __future__ import annotations

import pytest
from flask import Flask

from app import active_account_required, fresh_required
from app.core.errors import SetupError
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, Person


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
    assert refused.json["code"] == "reauthentication_required"
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


@pytest.mark.parametrize("minutes", [len, 0, "15"])
def test_without_its_minutes_it_is_told_how_it_is_written(minutes: int) -> None:
    with pytest.raises(SetupError, match=r"@fresh_required\(minutes=15\)"):
        fresh_required(minutes)
