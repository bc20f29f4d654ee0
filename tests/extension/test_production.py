"""Production checks at a server's start: each misconfiguration is a warning or stops the start."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.extension.production import weakness

from ..conftest import MakeApp, only_on
from ..rigs.hosts import host_with

STRICT = {"CORE__PRODUCTION_CHECKS": "refuse", "FIRST_SUPERUSER_PASSWORD": "battery staple"}
MISCONFIGURATIONS = {
    "SECRET_KEY is a placeholder from documentation or examples": {"SECRET_KEY": "changethis"},
    "SECRET_KEY has fewer than 32 bytes": {"SECRET_KEY": "hX2-0fJqLw9z"},
    "SECRET_KEY has fewer than 8 different": {"SECRET_KEY": "abcdabcdabcdabcdabcdabcdabcdabcdabcd"},
    "in memory with 3 workers": {"WEB_CONCURRENCY": "3"},
    "RATE_LIMITS_ENABLED is off": {"AUTH__RATE_LIMITS_ENABLED": "false"},
    "Debug mode is on": {"FLASK_DEBUG": "1"},
    "FIRST_SUPERUSER_PASSWORD is its default": {"FIRST_SUPERUSER_PASSWORD": "changethis"},
}


@only_on("sqlite")
@pytest.mark.parametrize("problem", MISCONFIGURATIONS)
def test_each_misconfiguration_is_one_warning(
    problem: str, make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    make_app(**{"FIRST_SUPERUSER_PASSWORD": "battery staple", **MISCONFIGURATIONS[problem]})
    (warning,) = (x for x in capsys.readouterr().err.splitlines() if problem in x)
    assert "WARNING" in warning


@only_on("sqlite")
@pytest.mark.parametrize("problem", MISCONFIGURATIONS)
def test_misconfiguration_stops_a_strict_start(problem: str, make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match=problem):
        make_app(**{**STRICT, **MISCONFIGURATIONS[problem]})


@only_on("sqlite")
def test_correct_configuration_starts(make_app: MakeApp) -> None:
    assert isinstance(make_app(**STRICT), Flask)


@only_on("sqlite")
def test_commands_and_development_server_always_start(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASK_RUN_FROM_CLI", "true")
    assert isinstance(make_app(**{**STRICT, "SECRET_KEY": "changethis"}), Flask)


def test_application_with_a_weak_key_logs_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    class Settings:
        SECRET_KEY = "dev"

    host_with(settings=Settings())
    assert "SECRET_KEY is a placeholder from documentation or examples" in caplog.text


@pytest.mark.parametrize(
    "key", ["secret", "Change-Me!", "changethischangethischangethischangethis", "dev_secret_key"]
)
def test_variants_of_a_known_key_are_recognized(key: str) -> None:
    assert weakness(key) == "is a placeholder from documentation or examples"


def test_random_key_is_accepted() -> None:
    assert weakness("wqPzzl1cYHH0Uwtb3mQH6v6i0nkCJd4q") is None
