"""What endangers production is told at a server's start, or ends it."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.extension.production import weakness

from ..conftest import MakeApp, only_on
from ..rigs.hosts import host_with

REFUSING = {"CORE__PRODUCTION_CHECKS": "refuse", "FIRST_SUPERUSER_PASSWORD": "battery staple"}
DANGERS = {
    "SECRET_KEY is a placeholder from documentation or examples": {"SECRET_KEY": "changethis"},
    "SECRET_KEY has fewer than 32 bytes": {"SECRET_KEY": "hX2-0fJqLw9z"},
    "SECRET_KEY has fewer than 8 different": {"SECRET_KEY": "abcdabcdabcdabcdabcdabcdabcdabcdabcd"},
    "in memory with 3 workers": {"WEB_CONCURRENCY": "3"},
    "RATE_LIMITS_ENABLED is off": {"AUTH__RATE_LIMITS_ENABLED": "false"},
    "Debug mode is on": {"FLASK_DEBUG": "1"},
    "FIRST_SUPERUSER_PASSWORD is its default": {"FIRST_SUPERUSER_PASSWORD": "changethis"},
}


@only_on("sqlite")
@pytest.mark.parametrize("danger", DANGERS)
def test_each_misconfiguration_is_one_warning(
    danger: str, make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    make_app(**{"FIRST_SUPERUSER_PASSWORD": "battery staple", **DANGERS[danger]})
    (told,) = (line for line in capsys.readouterr().err.splitlines() if danger in line)
    assert "WARNING" in told


@only_on("sqlite")
@pytest.mark.parametrize("danger", DANGERS)
def test_a_danger_ends_the_start_where_it_shall(danger: str, make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match=danger):
        make_app(**{**REFUSING, **DANGERS[danger]})


@only_on("sqlite")
def test_without_a_danger_it_starts(make_app: MakeApp) -> None:
    assert isinstance(make_app(**REFUSING), Flask)


@only_on("sqlite")
def test_commands_and_the_development_server_start_with_any(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASK_RUN_FROM_CLI", "true")
    assert isinstance(make_app(**{**REFUSING, "SECRET_KEY": "changethis"}), Flask)


def test_a_host_is_warned_of_its_key_too(caplog: pytest.LogCaptureFixture) -> None:
    class Settings:
        SECRET_KEY = "dev"

    host_with(settings=Settings())
    assert "SECRET_KEY is a placeholder from documentation or examples" in caplog.text


@pytest.mark.parametrize(
    "key", ["secret", "Change-Me!", "changethischangethischangethischangethis", "dev_secret_key"]
)
def test_a_known_key_is_known_in_every_guise(key: str) -> None:
    assert weakness(key) == "is a placeholder from documentation or examples"


def test_a_key_that_nobody_knows_is_taken() -> None:
    assert weakness("wqPzzl1cYHH0Uwtb3mQH6v6i0nkCJd4q") is None
