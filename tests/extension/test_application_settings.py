"""Settings of an application: where they can be set, which source takes precedence, and errors for
misspelled names."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from flask import Flask
from pydantic import SecretStr

from app import (
    AuthSettings,
    BrandSettings,
    ComposedSettings,
    CoreSettings,
    Frontdesk,
    SettingsError,
    create_app,
)
from app.accounts.account import Account
from app.blueprints import auth
from app.core.config.settings import LoadedSettings
from app.testing.client import Api
from app.testing.people import make_person

from ..rigs.hosts import plain_app

KEY = "a key of the host's own, which is long enough for it"


class ApplicationSettings:
    """A settings object of the application."""

    SECRET_KEY = KEY
    CORE = CoreSettings(PROJECT_NAME="ApplicationSettings")
    AUTH = AuthSettings(LOGIN_LIMIT="9 per hour", ACCESS_TOKEN_EXPIRE_MINUTES=9)
    BRAND = BrandSettings(COLOR="#112233", FOOTER="ApplicationSettings")


def host_with(config: Any = None, settings: object | None = None, *, prefixed: str = "") -> Flask:
    host, db = plain_app(SECRET_KEY=KEY)
    if config is not None:
        host.config["FRONTDESK"] = config
    if prefixed:
        host.config.from_prefixed_env(prefixed)
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    return host


def settings_of(host: Flask) -> LoadedSettings:
    found: LoadedSettings = host.extensions["frontdesk"].settings
    return found


def minutes(host: Flask) -> int:
    return settings_of(host).of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES


def error_of(config: Any = None) -> str:
    with pytest.raises(SettingsError) as rejected:
        host_with(config)
    assert "\n" not in str(rejected.value)
    return str(rejected.value)


def test_settings_are_read_from_app_config() -> None:
    app, db = plain_app(SECRET_KEY=KEY)
    # [config]
    app.config["FRONTDESK"] = {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 60}}
    # [end]
    Frontdesk().init_app(app, db, account_model=Account)
    assert minutes(app) == 60
    assert settings_of(app).core.PROJECT_NAME == "Frontdesk"


def test_settings_are_read_from_flask_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASK_FRONTDESK__AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "60")
    monkeypatch.setenv("FLASK_FRONTDESK__AUTH__ACTIVE_STATUSES", '["active", "trial"]')
    # Flask parses digits as a number, also in names.
    monkeypatch.setenv("FLASK_FRONTDESK__CORE__PROJECT_NAME", "1984")
    monkeypatch.setenv("FLASK_FRONTDESK__SECRET_KEY", "9" * 40)
    found = settings_of(host_with(prefixed="FLASK"))
    assert found.of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES == 60
    assert found.of(AuthSettings).ACTIVE_STATUSES == ["active", "trial"]
    assert (found.core.PROJECT_NAME, found.secret_key) == ("1984", "9" * 40)


@pytest.mark.parametrize("prefixed", ["", "FRONTDESK"])
def test_settings_are_read_from_prefixed_variables(
    prefixed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "60")
    monkeypatch.setenv("FRONTDESK_AUTH__ACTIVE_STATUSES", '["active", "trial"]')
    monkeypatch.setenv("FRONTDESK_SMS_ACCOUNT_SID", "AC1")
    monkeypatch.setenv("FRONTDESK_IDP_OAUTH_CLIENT_ID", "ours")
    found = settings_of(host_with(prefixed=prefixed))
    auth = found.of(AuthSettings)
    assert (auth.ACCESS_TOKEN_EXPIRE_MINUTES, auth.IDP_OAUTH_CLIENT_ID) == (60, "ours")
    assert auth.ACTIVE_STATUSES == ["active", "trial"]
    assert found.top_level("SMS_ACCOUNT_SID") == "AC1"


def test_settings_are_read_from_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES=60\nFOO=1\n")
    assert minutes(host_with(settings=ApplicationSettings())) == 60


def test_prefixed_variables_override_other_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "1")
    assert minutes(host_with()) == 1
    assert minutes(host_with(settings=ApplicationSettings())) == 9
    assert (
        minutes(host_with({"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 20}}, ApplicationSettings()))
        == 20
    )
    monkeypatch.setenv("FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "30")
    assert (
        minutes(host_with({"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 20}}, ApplicationSettings()))
        == 30
    )


def test_sources_are_combined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTDESK_AUTH__LOGOUT_IS_FINAL", "true")
    monkeypatch.setenv("FRONTDESK_BRAND__SUPPORT_EMAIL", "help@example.com")
    config = {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 20}, "BRAND": {"NAME": "Shop"}}
    found = settings_of(host_with(config, ApplicationSettings()))
    auth = found.of(AuthSettings)
    assert (auth.LOGIN_LIMIT, auth.ACCESS_TOKEN_EXPIRE_MINUTES) == ("9 per hour", 20)
    assert auth.LOGOUT_IS_FINAL
    assert found.of(BrandSettings).SUPPORT_EMAIL == "help@example.com"
    assert (found.core.PROJECT_NAME, found.secret_key) == ("ApplicationSettings", KEY)
    brand = found.of(BrandSettings)
    assert (brand.NAME, brand.COLOR, brand.FOOTER) == ("Shop", "#112233", "ApplicationSettings")


def test_secret_key_of_frontdesk_does_not_change_the_applications() -> None:
    for config in ({"SECRET_KEY": "k" * 40}, {"CORE": {"SECRET_KEY": "k" * 40}}):
        host = host_with(config)
        assert (settings_of(host).secret_key, host.secret_key) == ("k" * 40, KEY)
    assert settings_of(host_with({"SECRET_KEY": SecretStr("k" * 40)})).secret_key == "k" * 40


@pytest.mark.parametrize("empty", ["", None])
def test_empty_secret_key_falls_back_to_the_applications(empty: str | None) -> None:
    class Settings:
        SECRET_KEY = empty

    assert settings_of(host_with({"CORE": {"SECRET_KEY": ""}}, Settings())).secret_key == KEY


def test_settings_command_shows_the_source_of_each_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FRONTDESK_AUTH__LOGIN_LIMIT", "1 per hour")
    (tmp_path / ".env").write_text("FRONTDESK_SMS_ACCOUNT_SID=AC1\n")
    config = {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 20}, "IDP_OAUTH_CLIENT_ID": "ours"}
    found = settings_of(host_with(config, ApplicationSettings()))
    in_config = ("config", 'app.config["FRONTDESK"]')
    assert found.origin("AUTH", "LOGIN_LIMIT") == ("environment", "FRONTDESK_AUTH__LOGIN_LIMIT")
    assert found.origin("", "SMS_ACCOUNT_SID") == (".env", "FRONTDESK_SMS_ACCOUNT_SID")
    assert found.origin("AUTH", "ACCESS_TOKEN_EXPIRE_MINUTES") == in_config
    assert found.origin("AUTH", "IDP_OAUTH_CLIENT_ID") == in_config
    assert found.origin("CORE", "PROJECT_NAME") == ("host", "ApplicationSettings")
    assert found.origin("CORE", "CONSOLE_ENABLED") == ("follows", "")
    assert found.origin("AUTH", "MFA") == ("default", "")


def test_plain_variables_and_the_applications_key_are_shown_as_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AUTH__MFA", "optional")
    monkeypatch.setenv("BRAND", '{"NAME": "Shop"}')
    for settings in (None, Composed()):
        found = settings_of(host_with(settings=settings))
        assert found.origin("AUTH", "MFA") == ("environment", "AUTH__MFA")
        assert found.origin("BRAND", "NAME") == ("environment", "BRAND")
        assert found.origin("CORE", "SECRET_KEY") == ("config", 'app.config["SECRET_KEY"]')


def test_invalid_value_in_code_names_its_class() -> None:
    class Settings:
        LOGIN_LIMIT = "hunter2"

    with pytest.raises(SettingsError) as rejected:
        host_with(settings=Settings())
    assert str(rejected.value) == (
        "Invalid settings: AUTH__LOGIN_LIMIT: must be a limit such as '5/5minutes' or"
        " '100 per hour', in Settings"
    )


def test_provider_settings_are_read_with_and_without_their_namespace() -> None:
    for config in ({"IDP_OAUTH_CLIENT_ID": "ours"}, {"AUTH": {"IDP_OAUTH_CLIENT_ID": "ours"}}):
        assert settings_of(host_with(config)).of(AuthSettings).IDP_OAUTH_CLIENT_ID == "ours"


def test_namespace_can_be_an_object_of_its_class() -> None:
    assert minutes(host_with({"AUTH": AuthSettings(ACCESS_TOKEN_EXPIRE_MINUTES=7)})) == 7


OTHER_VARIABLES = {
    "AUTH__DIRECTORY": "ldap",
    "CORE__FOO": "1",
    "AUTH": "ldap",
    "TASKS": "3",
    "BRAND": "Acme",
}


@pytest.mark.parametrize("kind", [None, ComposedSettings])
def test_other_variables_do_not_stop_the_start(
    kind: type[ComposedSettings] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in OTHER_VARIABLES.items():
        monkeypatch.setenv(name, value)
    (tmp_path / ".env").write_text("NOTIFICATIONS__TRANSPORT=carrier pigeon\nPROFILES=many\n")
    monkeypatch.setenv("AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "1")
    assert minutes(host_with(settings=kind() if kind else None)) == 1


class MoreAuth(AuthSettings):
    LDAP_URL: str = ""


class Composed(ComposedSettings):
    AUTH: MoreAuth = MoreAuth()


def test_additional_settings_of_the_application_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH__LDAP_URL", "ldap://127.0.0.1")
    monkeypatch.setenv("AUTH__DIRECTORY", "ldap")
    settings = Composed()
    assert settings.AUTH.LDAP_URL == "ldap://127.0.0.1"
    assert minutes(host_with(settings=settings)) == 30


def test_doctor_lists_variables_that_frontdesk_ignores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**OTHER_VARIABLES, "AUTH__TOKEN_LIFE": "60"}.items():
        monkeypatch.setenv(name, value)
    names = "AUTH__DIRECTORY, AUTH__TOKEN_LIFE, CORE__FOO"
    text = (
        f"These names are no settings of Frontdesk, which ignores them: {names}. Check their"
        " spelling."
    )
    assert findings(host_with()) == [("warning", text)]


def findings(host: Flask) -> list[tuple[str, str]]:
    output = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
    found = json.loads(output.splitlines()[-1])["findings"]
    return [(each["level"], each["message"]) for each in found if each["check"] == "settings"]


class ServiceOnly:
    """Settings that only the service reads."""

    CORE = CoreSettings(LOG_LEVEL="ERROR")


def test_doctor_reports_settings_that_only_the_service_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FRONTDESK_CORE__API_V1_STR", "/v2")
    config = {"CORE": {"DATABASE_URL": "sqlite://"}, "TASKS": {"ENABLED": False}}
    because = "has no effect in an application that mounts Frontdesk. Remove the setting, and"
    assert findings(host_with(config, ServiceOnly())) == [
        (
            "fault",
            f"CORE__API_V1_STR (set in FRONTDESK_CORE__API_V1_STR) {because} pass url_prefix= to"
            " register_blueprint.",
        ),
        (
            "fault",
            f'CORE__DATABASE_URL (set in app.config["FRONTDESK"]) {because} configure the database'
            " of the SQLAlchemy object that you pass.",
        ),
        (
            "fault",
            f"CORE__LOG_LEVEL (set in ServiceOnly) {because} configure logging in your"
            " application.",
        ),
        (
            "fault",
            f'TASKS__ENABLED (set in app.config["FRONTDESK"]) {because} register the blueprint'
            " tasks only if you need its routes.",
        ),
    ]


def test_plain_variables_of_the_service_are_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service can run in the same environment."""
    monkeypatch.setenv("CORE__LOG_LEVEL", "ERROR")
    assert findings(host_with()) == []
    assert findings(host_with(settings=ComposedSettings())) == []


def test_settings_that_an_application_reads_are_no_finding() -> None:
    config = {"CORE": {"CONSOLE_PATH": "/desk"}, "FIRST_SUPERUSER": "root@example.com"}
    assert findings(host_with(config)) == []


@pytest.mark.parametrize("prefix", ["", "FRONTDESK_"])
def test_misspelled_setting_is_rejected_with_a_suggestion(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{prefix}AUTH__ACCESS_TOKEN_EXPIRES_MINUTES", "60")
    assert error_of() == (
        f"Invalid settings: {prefix}AUTH__ACCESS_TOKEN_EXPIRES_MINUTES: unknown setting,"
        f" did you mean {prefix}AUTH__ACCESS_TOKEN_EXPIRE_MINUTES?"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("FRONTDESK_AUTH__DIRECTORY", "unknown setting"),
        ("FRONTDESK_ATUH__LOGIN_LIMIT", "did you mean FRONTDESK_AUTH__LOGIN_LIMIT?"),
        ("FRONTDESK_SECRETKEY", "did you mean FRONTDESK_SECRET_KEY?"),
        ("FRONTDESK_MAIL_SERVR", "did you mean FRONTDESK_MAIL_SERVER?"),
        ("FRONTDESK_SMS_GATEWAY", "unknown setting"),
        ("FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "valid integer"),
        ("FRONTDESK_AUTH__ACTIVE_STATUSES", 'must be JSON, such as ["one", "two"]'),
    ],
)
def test_unknown_prefixed_variable_is_rejected(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "hunter2")
    sentence = error_of()
    assert sentence.startswith(f"Invalid settings: {name}: ")
    assert message in sentence
    assert "hunter2" not in sentence


def test_other_variables_that_begin_with_the_name_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FRONTDESK_HOME", "/srv/frontdesk")
    host_with()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"AUHT": {}}, 'has no setting "AUHT". Do you mean "AUTH"?'),
        (
            {"ACCESS_TOKEN_EXPIRE_MINUTES": 60},
            'Write {"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": …}}.',
        ),
        ({"AUTH__LOGIN_LIMIT": "1/hour"}, 'Write {"AUTH": {"LOGIN_LIMIT": …}}.'),
        ({"AUTH": {"LOGIN_LIMITS": "1/hour"}}, "did you mean AUTH__LOGIN_LIMIT?"),
        ({"AUTH": {"LOGIN_LIMIT": "hunter2"}}, "AUTH__LOGIN_LIMIT: must be a limit such as"),
        ({"MAIL_SERVR": "smtp"}, 'has no setting "MAIL_SERVR". Do you mean "MAIL_SERVER"?'),
        ({"AUTH": 7}, "valid dictionary"),
        (["AUTH"], "is a mapping of mappings"),
        ({7: 1}, 'has no setting "7"'),
    ],
)
def test_invalid_configuration_is_one_sentence(config: Any, message: str) -> None:
    sentence = error_of(config)
    assert message in sentence
    assert 'app.config["FRONTDESK"]' in sentence
    assert "hunter2" not in sentence


@pytest.mark.parametrize("place", ["config", "variable"])
def test_flat_names_in_app_config_are_read(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app, db = plain_app(SECRET_KEY=KEY)
    if place == "config":
        # [flat]
        app.config["FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES"] = 60
        # [end]
        app.config["FRONTDESK_AUTH__ACTIVE_STATUSES"] = ["active", "trial"]
        app.config["FRONTDESK_BRAND"] = {"NAME": "Shop"}
        app.config["FRONTDESK_SMS_ACCOUNT_SID"] = "AC1"
        app.config["FRONTDESK_IDP_OAUTH_CLIENT_ID"] = "ours"
    else:
        monkeypatch.setenv("FLASK_FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "60")
        monkeypatch.setenv("FLASK_FRONTDESK_AUTH__ACTIVE_STATUSES", '["active", "trial"]')
        monkeypatch.setenv("FLASK_FRONTDESK_BRAND__NAME", "Shop")
        monkeypatch.setenv("FLASK_FRONTDESK_SMS_ACCOUNT_SID", "AC1")
        monkeypatch.setenv("FLASK_FRONTDESK_IDP_OAUTH_CLIENT_ID", "ours")
        app.config.from_prefixed_env()
    Frontdesk().init_app(app, db, account_model=Account)
    found = settings_of(app)
    auth = found.of(AuthSettings)
    assert (auth.ACCESS_TOKEN_EXPIRE_MINUTES, auth.IDP_OAUTH_CLIENT_ID) == (60, "ours")
    assert auth.ACTIVE_STATUSES == ["active", "trial"]
    assert (found.of(BrandSettings).NAME, found.top_level("SMS_ACCOUNT_SID")) == ("Shop", "AC1")


def test_flat_names_come_between_the_mapping_and_the_settings_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES"

    def host(config: Any = None) -> Flask:
        host, db = plain_app(SECRET_KEY=KEY)
        host.config[name] = 30
        if config is not None:
            host.config["FRONTDESK"] = config
        Frontdesk().init_app(host, db, settings=ApplicationSettings(), account_model=Account)
        return host

    assert minutes(host()) == 30
    origin = settings_of(host()).origin("AUTH", "ACCESS_TOKEN_EXPIRE_MINUTES")
    assert origin == ("config", f'app.config["{name}"]')
    assert minutes(host({"AUTH": {"ACCESS_TOKEN_EXPIRE_MINUTES": 20}})) == 20
    monkeypatch.setenv(name, "10")
    assert minutes(host()) == 10


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("AUTH__LOGIN_LIMITT", ", did you mean FRONTDESK_AUTH__LOGIN_LIMIT?"),
        ("ATUH__LOGIN_LIMIT", ", did you mean FRONTDESK_AUTH__LOGIN_LIMIT?"),
        ("AUTH_LOGIN_LIMIT", ", did you mean FRONTDESK_AUTH__LOGIN_LIMIT?"),
        ("LOGIN_LIMIT", ", did you mean FRONTDESK_AUTH__LOGIN_LIMIT?"),
        ("SECRETKEY", ", did you mean FRONTDESK_SECRET_KEY?"),
        ("NOPE", ""),
    ],
)
def test_unknown_flat_name_is_rejected_with_a_suggestion(name: str, message: str) -> None:
    app, db = plain_app(SECRET_KEY=KEY, **{f"FRONTDESK_{name}": "hunter2"})
    with pytest.raises(SettingsError) as rejected:
        Frontdesk().init_app(app, db, account_model=Account)
    place = f'app.config["FRONTDESK_{name}"]'
    assert str(rejected.value) == f"Invalid settings: {place}: unknown setting{message}"


def test_invalid_value_of_a_flat_name_is_named_without_the_value() -> None:
    app, db = plain_app(SECRET_KEY=KEY, FRONTDESK_AUTH__LOGIN_LIMIT="hunter2")
    with pytest.raises(SettingsError) as rejected:
        Frontdesk().init_app(app, db, account_model=Account)
    assert str(rejected.value) == (
        "Invalid settings: AUTH__LOGIN_LIMIT: must be a limit such as '5/5minutes' or"
        " '100 per hour', in app.config[\"FRONTDESK_AUTH__LOGIN_LIMIT\"]"
    )


def test_service_rejects_unknown_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    monkeypatch.setenv("FRONTDESK_AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "60")
    assert minutes(create_app()) == 30
    monkeypatch.setenv("CORE__FOO", "1")
    with pytest.raises(SettingsError, match="CORE__FOO: unknown setting"):
        create_app()


OTHER = "another secret key, which is long enough as well"


@pytest.mark.parametrize("name", ["SECRET_KEY", "CORE__SECRET_KEY", "FRONTDESK_SECRET_KEY"])
def test_key_of_app_config_wins_over_the_environments(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    claims = {"sub": "ada@example.com", "type": "access", "exp": 2**33}
    monkeypatch.setenv(name, OTHER)
    host = host_with()
    host.register_blueprint(auth)
    with host.app_context():
        host.extensions["sqlalchemy"].create_all()
    make_person(host, "ada")
    for key in (KEY, OTHER):
        token = jwt.encode({**claims, "iat": time.time() + 1}, key, "HS256")
        assert Api(host, "").as_token(token).get("/account").json["email"] == "ada@example.com"
    assert settings_of(host).secret_key == KEY
    assert f'{name} differs from app.config["SECRET_KEY"]' in caplog.text
    [error] = key_errors(host)
    assert error.startswith(f'{name} and app.config["SECRET_KEY"] differ')


def key_errors(host: Flask) -> list[str]:
    result = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    findings = json.loads(result.stdout.splitlines()[-1])["findings"]
    return [each["message"] for each in findings if each["check"] == "secret_key"]


def test_doctor_reports_a_second_key_and_not_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "differ" in key_errors(host_with({"SECRET_KEY": "k" * 40 + "abcdefgh"}))[0]
    monkeypatch.setenv("SECRET_KEY", KEY)
    assert not any("differ" in each for each in key_errors(host_with()))
