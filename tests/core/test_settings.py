from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import create_engine

from app import create_app
from app.auth.settings import AuthSettings
from app.core.config.environment import SettingsError, load
from app.core.config.settings import CoreSettings
from app.extension.settings import ComposedSettings
from app.extension.sources import service_settings
from app.notifications.settings import NotificationsSettings
from config import Settings
from scripts.settings import PAGE, page, settings


class Flat(CoreSettings, AuthSettings, NotificationsSettings, BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", hide_input_in_errors=True)


def wrong(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> str:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        load(Settings)
    return str(raised.value)


def test_defaults_match_the_contract() -> None:
    chosen = service_settings(load(Settings))
    assert chosen.core.API_V1_STR == "/api/v1"
    assert chosen.core.EMAILS_ENABLED is True
    assert chosen.of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES == 30
    assert chosen.of(AuthSettings).EMAIL_RESET_TOKEN_EXPIRE_HOURS == 48
    assert chosen.of(AuthSettings).PASSWORD_RESET_PATH == "/reset"
    assert chosen.of(AuthSettings).ACTIVE_STATUSES == ["active", "online"]
    assert not chosen.of(AuthSettings).ENABLE_IDP_OAUTH
    assert not chosen.of(AuthSettings).ALLOW_IDP_OAUTH_SIGNUP
    assert chosen.of(NotificationsSettings).DASHBOARD_PATH == "/dashboard"
    assert chosen.top_level("SMS_ACCOUNT_SID") == ""


def test_composed_settings_read_namespace_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORE__PROJECT_NAME", "Reception")
    monkeypatch.setenv("AUTH__ACTIVE_STATUSES", '["active", "trial"]')
    monkeypatch.setenv("IDP_OAUTH_CLIENT_ID", "ours")
    chosen = service_settings(load(Settings))
    assert chosen.core.PROJECT_NAME == "Reception"
    assert chosen.of(AuthSettings).ACTIVE_STATUSES == ["active", "trial"]
    assert chosen.of(AuthSettings).IDP_OAUTH_CLIENT_ID == "ours"


def test_variable_keeps_other_defaults_of_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library(ComposedSettings):
        CORE: CoreSettings = CoreSettings(PROJECT_NAME="Library", CLIENT_HOST="https://l.example")

    monkeypatch.setenv("CORE__CLIENT_HOST", "https://library.example")
    chosen = service_settings(load(Library)).core
    assert (chosen.PROJECT_NAME, chosen.CLIENT_HOST) == ("Library", "https://library.example")


def test_subclassed_settings_read_flat_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROJECT_NAME", "Reception")
    monkeypatch.setenv("CORE__PROJECT_NAME", "not read")
    monkeypatch.setenv("ACCESS_TOKEN_EXPIRE_MINUTES", "5")
    monkeypatch.setenv("DASHBOARD_PATH", "/inbox")
    monkeypatch.setenv("SECRET_KEY", "flat")
    chosen = service_settings(load(Flat))
    assert chosen.core.PROJECT_NAME == "Reception"
    assert chosen.of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES == 5
    assert chosen.of(NotificationsSettings).DASHBOARD_PATH == "/inbox"
    assert chosen.secret_key == "flat"


def test_application_can_pass_any_object_with_the_names() -> None:
    class Plain:
        SECRET_KEY = "plain"
        CORE = CoreSettings(PROJECT_NAME="Plain")
        SMS_PHONE_NUMBER = "+15550100"

    chosen = service_settings(Plain())
    assert (chosen.core.PROJECT_NAME, chosen.secret_key) == ("Plain", "plain")
    assert chosen.of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES == 30
    assert chosen.top_level("SMS_PHONE_NUMBER") == "+15550100"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "soon"),
        ("AUTH__ACCESS_TOKEN_EXPIRE_MINUTES", "0"),
        ("AUTH__ACTIVE_STATUSES", "active"),
        ("AUTH__LOGIN_LIMIT", "a few"),
        ("CORE__API_V1_STR", "api"),
        ("CORE__CLIENT_HOST", "localhost"),
        ("CORE__CORS_ORIGINS", "[oops"),
        ("CORE__DATABASE_URL", "mysql://root:hunter2@db/x"),
        ("CORE__DATABASE_URL", "hunter2"),
        ("CORE__DATABASE_URL", "postgresql://u:hunter2@h:port/d"),
        ("CORE__DATABASE_URL", "postgresql://u:hunter2@h1:1,h2:port/d"),
        ("CORE__DATABASE_URL", "postgresql://u:hunter2@h1,h2/d?port=5432"),
        ("CORE__DATABASE_URL", "postgresql://u:hunter2@[::1],[::2]/d?port=5432"),
        ("CORE__DATABASE_URL", "postgresql://u:hunter2@[fe80::1%eth0],h2/d"),
        ("CORE__DATABASE_DIRECT_URL", "sqlite:///hunter2.db"),
        ("CORE__DATABASE_PREPARED", "perhaps"),
        ("CORE__EMAILS_ENABLED", "perhaps"),
        ("CORE__KEYSTORE", "paper"),
        ("CORE__NO_SUCH_THING", "1"),
        ("CORE__REDIS_URL", "sentinel://:hunter2@h:26379/mymaster"),
        ("CORE__REDIS_URL", "redis+sentinel://:hunter2@h:26379/0"),
        ("CORE__REDIS_URL", "redis+cluster://:hunter2@h:6379/1"),
        ("CORE__REDIS_URL", "valkey://:hunter2@h:6379/0"),
        ("CORE__CELERY_BROKER_URL", "sentinel://:hunter2@h:26379/mymaster"),
        ("CORE__CELERY_BROKER_URL", "redis+cluster://:hunter2@h:6379"),
        ("CORE__REDIS_URL", "hunter2:6379"),
        ("MAIL_PORT", "smtp"),
        ("NOTIFICATIONS__TYPO", "1"),
    ],
)
def test_wrong_setting_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    sentence = wrong(monkeypatch, name, value)
    assert sentence.startswith(f"Invalid settings: {name}: ")
    assert "hunter2" not in sentence
    assert "\n" not in sentence


def test_all_wrong_settings_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_PORT", "smtp")
    sentence = wrong(monkeypatch, "CORE__REDIS_PORT", "redis")
    assert "MAIL_PORT" in sentence
    assert "CORE__REDIS_PORT" in sentence


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_postgresql_scheme_uses_psycopg(scheme: str) -> None:
    core = CoreSettings.model_validate({"DATABASE_URL": f"{scheme}://u:p@h/d"})
    assert core.DATABASE_URL.get_secret_value() == "postgresql+psycopg://u:p@h/d"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("postgresql://u:p@h1:1,h2:2/d", "postgresql+psycopg://u:p@/d?host=h1:1&host=h2:2"),
        (
            "postgresql://h1,h2/d?target_session_attrs=read-write",
            "postgresql+psycopg:///d?target_session_attrs=read-write&host=h1&host=h2",
        ),
        ("postgresql://u:a,b@h/d", "postgresql+psycopg://u:a,b@h/d"),
        ("postgresql://u:a,b/c@h/d", "postgresql+psycopg://u:a,b/c@h/d"),
        ("postgresql://u:1,b?c@h/d", "postgresql+psycopg://u:1,b?c@h/d"),
        ("postgresql://u:a,b/c@h1,h2/d", "postgresql+psycopg://u:a,b/c@/d?host=h1&host=h2"),
        (
            "postgresql://u@h1,h2?target_session_attrs=read-write",
            "postgresql+psycopg://u@/?target_session_attrs=read-write&host=h1&host=h2",
        ),
        (
            "postgresql://u@h1,h2/d?application_name=a@b,c",
            "postgresql+psycopg://u@/d?application_name=a@b,c&host=h1&host=h2",
        ),
        ("postgresql://u@[::1]:1,h2/d", "postgresql+psycopg://u@/d?host=::1,h2&port=1,"),
        ("postgresql://[::1],[::2]/d", "postgresql+psycopg:///d?host=::1,::2&port=,"),
    ],
)
def test_database_url_can_have_several_hosts(given: str, read: str) -> None:
    core = CoreSettings.model_validate({"DATABASE_URL": given, "DATABASE_DIRECT_URL": given})
    assert core.DATABASE_URL.get_secret_value() == read
    assert core.DATABASE_DIRECT_URL == core.DATABASE_URL


@pytest.mark.parametrize(
    ("given", "host", "port"),
    [
        ("u:a,b/c@h1:1,h2/d", "h1,h2", "1,"),
        ("u:a,b/c@[::1]:1,[::2]:2,h3/d", "::1,::2,h3", "1,2,"),
        ("u:a,b/c@[::1],[::2]/d", "::1,::2", ","),
    ],
)
def test_driver_gets_all_hosts_of_a_list(given: str, host: str, port: str) -> None:
    core = CoreSettings.model_validate({"DATABASE_URL": f"postgresql://{given}"})
    engine = create_engine(core.DATABASE_URL.get_secret_value())
    [_, options] = engine.dialect.create_connect_args(engine.url)
    read = [options[name] for name in ("user", "password", "dbname", "host", "port")]
    assert read == ["u", "a,b/c", "d", host, port]


def test_file_of_sqlite_can_have_a_comma() -> None:
    core = CoreSettings.model_validate({"DATABASE_URL": "sqlite:///data@h1,h2/d"})
    assert core.DATABASE_URL.get_secret_value() == "sqlite:///data@h1,h2/d"


def test_settings_are_read_from_a_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "CORE__PROJECT_NAME=Reception\n# a comment\n\nexport MAIL_PORT=1"
    )
    settings = load(Settings)
    assert (settings.CORE.PROJECT_NAME, settings.MAIL_PORT) == ("Reception", 1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"SECRET_KEY=x\nthis is not a setting\n", ".env, line 2: expected NAME=value."),
        (b"SECRET_KEY=\xff\xfe\n", ".env is not a text file in UTF-8."),
        (b"CORE__TYPO=1\n", "Invalid settings: CORE__TYPO: unknown setting"),
    ],
)
def test_invalid_dotenv_is_reported_in_one_sentence(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(SettingsError) as raised:
        load(Settings)
    assert str(raised.value) == sentence


def test_unreadable_dotenv_is_reported_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    with pytest.raises(SettingsError, match=r"^\.env cannot be read: "):
        load(Settings)


def test_no_repr_contains_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "FIRST_SUPERUSER_PASSWORD", "SMS_AUTH_TOKEN", "MAIL_PASSWORD"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("CORE__REDIS_PASSWORD", "hunter2")
    monkeypatch.setenv("CORE__DATABASE_URL", "postgresql://u:hunter2@h/d")
    monkeypatch.setenv("AUTH__IDP_OAUTH_CLIENT_SECRET", "hunter2")
    settings = load(Settings)
    assert "hunter2" not in f"{settings!r} {settings} {service_settings(settings)!r}"


def test_unset_secret_key_is_generated_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    first, second = create_app(load(Settings)), create_app(load(Settings))
    logged = capsys.readouterr().err
    assert len(first.config["SECRET_KEY"]) >= 32
    assert first.config["SECRET_KEY"] != second.config["SECRET_KEY"]
    assert logged.count("SECRET_KEY is not set") == 2
    assert first.config["SECRET_KEY"] not in logged


def test_set_secret_key_is_used_without_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "a key that is long enough for HS256"
    monkeypatch.setenv("SECRET_KEY", key)
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    assert create_app(load(ComposedSettings)).config["SECRET_KEY"] == key
    assert "SECRET_KEY" not in capsys.readouterr().err


def test_documented_settings_match_the_code() -> None:
    assert PAGE.read_text() == page(), "run: make settings"


def test_every_setting_has_a_description() -> None:
    declared = settings()
    assert len(declared) > 40
    assert [name for name, field in declared.items() if not field.description] == []
