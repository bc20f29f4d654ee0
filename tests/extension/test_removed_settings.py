"""A removed setting stops no start, wherever it is set: a warning says what took its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from flask import Flask
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app import AuthSettings, ComposedSettings, CoreSettings, Frontdesk, SettingsError, create_app
from app.accounts.account import Account
from app.core.config.removed_settings import REMOVED_SETTINGS
from app.doctor.unread_settings import unread_names
from app.extension.settings import NAMESPACES

from ..rigs.hosts import plain_app

NAME = "AUTH__LOGIN_BY_FAX"
SENTENCE = "Accounts sign in with a password."

Warned = Callable[[], str]


class Flat(CoreSettings, AuthSettings, BaseSettings):
    """A subclassed settings class, which rejects unknown names of `.env`."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(env_file=".env", extra="forbid")


class OwnAuth(AuthSettings):
    """The settings of an application that still declares what Frontdesk has removed."""

    LOGIN_BY_FAX: bool = False


@pytest.fixture(autouse=True)
def _removed_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REMOVED_SETTINGS, NAME, SENTENCE)


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Warned:
    def place_of_the_only_warning() -> str:
        [record] = [each for each in caplog.records if "was removed" in each.msg]
        text = record.getMessage()
        start, end = f"{NAME} (set in ", f") was removed and has no effect. {SENTENCE}"
        assert record.levelname == "WARNING"
        assert text.startswith(start)
        assert end in text
        return text.removeprefix(start).partition(end)[0]

    return place_of_the_only_warning


def start(settings: object | None = None, config: object = None) -> Flask:
    app, db = plain_app(SECRET_KEY="a key of the application, long enough")
    app.config["FRONTDESK"] = config
    app.config.from_prefixed_env("FLASK")
    Frontdesk().init_app(app, db, settings=settings, account_model=Account)
    return app


@pytest.mark.parametrize("value", ["on", '{"number": 1}'])
@pytest.mark.parametrize("variable", [NAME, f"FRONTDESK_{NAME}"])
def test_application_starts_with_a_removed_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, warned: Warned
) -> None:
    monkeypatch.setenv(variable, value)
    start()
    assert warned() == variable


@pytest.mark.parametrize("variable", ["AUTH", "FRONTDESK_AUTH"])
def test_removed_setting_in_a_json_variable_keeps_the_others(
    variable: str, monkeypatch: pytest.MonkeyPatch, warned: Warned
) -> None:
    monkeypatch.setenv(variable, '{"LOGIN_BY_FAX": true, "LOGIN_LIMIT": "7 per hour"}')
    auth = start().extensions["frontdesk"].settings.of(AuthSettings)
    assert (warned(), auth.LOGIN_LIMIT) == (variable, "7 per hour")


def test_service_starts_with_a_removed_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    monkeypatch.setenv(NAME, "on")
    create_app()
    assert capsys.readouterr().err.count(f"{NAME} (set in {NAME}) was removed") == 1


@pytest.mark.parametrize("variable", [NAME, f"FRONTDESK_{NAME}"])
def test_application_starts_with_a_removed_line_of_dotenv(
    variable: str, tmp_path: Path, warned: Warned
) -> None:
    (tmp_path / ".env").write_text(f"{variable}=on\n")
    start()
    assert warned() == variable


def test_service_starts_with_a_removed_line_of_dotenv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_text(f"CORE__DATABASE_URL=sqlite://\n{NAME}=on\n")
    create_app()
    assert capsys.readouterr().err.count(f"{NAME} (set in {NAME}) was removed") == 1


def test_application_starts_with_a_removed_setting_in_app_config(warned: Warned) -> None:
    start(config={"AUTH": {"LOGIN_BY_FAX": True}})
    assert warned() == 'app.config["FRONTDESK"]'


def test_application_starts_with_a_removed_flask_variable(
    monkeypatch: pytest.MonkeyPatch, warned: Warned
) -> None:
    monkeypatch.setenv(f"FLASK_FRONTDESK__{NAME}", "true")
    start(config={})
    assert warned() == 'app.config["FRONTDESK"]'


def test_removed_setting_is_named_once_if_it_is_set_in_several_places(
    monkeypatch: pytest.MonkeyPatch, warned: Warned
) -> None:
    monkeypatch.setenv(f"FRONTDESK_{NAME}", "on")
    start(Plain(), {"AUTH": {"LOGIN_BY_FAX": True}})
    assert warned() == f"FRONTDESK_{NAME}"


def composed() -> ComposedSettings:
    class Composed(ComposedSettings):
        AUTH: AuthSettings = AuthSettings.model_validate({"LOGIN_BY_FAX": True})

    return Composed()


class ComposedWithOwnField(ComposedSettings):
    AUTH: OwnAuth = OwnAuth()


class FlatWithOwnField(Flat):
    LOGIN_BY_FAX: bool = False


class Plain:
    LOGIN_BY_FAX = True


@pytest.mark.parametrize(
    "make",
    [
        composed,
        lambda: ComposedSettings(AUTH={"LOGIN_BY_FAX": True}),
        ComposedWithOwnField,
        FlatWithOwnField,
        lambda: Flat.model_validate({"LOGIN_BY_FAX": True}),
        lambda: Flat(LOGIN_BY_FAX=True),  # type: ignore[call-arg]
        Plain,
        lambda: SimpleNamespace(AUTH={"LOGIN_BY_FAX": True}),
        lambda: SimpleNamespace(AUTH=Plain()),
    ],
)
def test_application_starts_with_a_removed_setting_in_python(
    make: Callable[[], object], warned: Warned
) -> None:
    settings = make()
    start(settings)
    assert warned() == type(settings).__name__


def test_subclassed_settings_class_starts_with_a_removed_variable(
    monkeypatch: pytest.MonkeyPatch, warned: Warned
) -> None:
    monkeypatch.setenv("LOGIN_BY_FAX", "on")
    start(Flat())
    assert warned() == "LOGIN_BY_FAX"


def test_subclassed_settings_class_starts_with_a_removed_line_of_dotenv(
    tmp_path: Path, warned: Warned
) -> None:
    (tmp_path / ".env").write_text("LOGIN_BY_FAX=on\n")
    start(Flat())
    assert warned() == "LOGIN_BY_FAX"


def test_removed_setting_is_not_reported_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "on")
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    monkeypatch.setenv(f"FRONTDESK_{NAME}", "on")
    for app in (start(), create_app()):
        assert not [text for text in unread_names(app.extensions["frontdesk"]) if "FAX" in text]


def test_other_unknown_settings_still_stop_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        CoreSettings.model_validate({"LOGIN_BY_FAX": True})
    monkeypatch.setenv("FRONTDESK_CORE__LOGIN_BY_FAX", "on")
    with pytest.raises(SettingsError, match="unknown setting"):
        start()


def test_removed_settings_are_found_by_the_names_of_the_classes() -> None:
    for namespace, kind in NAMESPACES.items():
        assert kind.__name__.removesuffix("Settings").upper() == namespace


def test_removed_settings_are_gone_and_described_by_a_sentence() -> None:
    for name, sentence in REMOVED_SETTINGS.items():
        namespace, _, field = name.partition("__")
        assert field not in NAMESPACES[namespace].model_fields
        assert "\n" not in sentence
        assert sentence.endswith(".")
