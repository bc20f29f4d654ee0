"""The doctor names the error of each wrong configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import sqlalchemy as sa
from flask import Flask

from app import create_app
from app.core.config.environment import load
from app.testing.clock import SteppingClock
from config import Settings

from ..conftest import Backend, MakeApp, only_on
from ..rigs.backends import free_port, postgres_database, redis_server
from ..rigs.poolers import pgbouncer

Found = list[tuple[str, str, str]]


def doctor(app: Flask) -> Found:
    app.testing = False
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    report = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == (0 if report["ok"] else 1)
    return [(each["check"], each["level"], each["message"]) for each in report["findings"]]


def of(found: Found, check: str, level: str) -> str:
    [message] = [text for name, grade, text in found if (name, grade) == (check, level)]
    return message


@only_on("sqlite")
@pytest.mark.parametrize(
    ("settings", "check", "level", "words"),
    [
        ({"SECRET_KEY": "changethis"}, "secret_key", "fault", "SECRET_KEY is a placeholder"),
        ({"SECRET_KEY": "short"}, "secret_key", "fault", "SECRET_KEY has fewer than 32 bytes"),
        (
            {"CORE__REDIS_URL": "redis://127.0.0.1:1/0"},
            "keystore",
            "fault",
            "unavailable at 127.0.0.1:1",
        ),
        (
            {"CORE__PUBLIC_URL": "https://192.0.2.1", "CORE__TRUSTED_PROXIES": "0"},
            "proxies",
            "warning",
            "CORE__TRUSTED_PROXIES is 0",
        ),
        ({"PROFILES__AVATAR_FOLDER": "/dev/null"}, "file_store", "fault", "/dev/null"),
        (
            {"CORE__CLIENT_HOST": "https://192.0.2.1/spa"},
            "client_host",
            "warning",
            "https://192.0.2.1/spa, with a path",
        ),
        (
            {"CORE__CLIENT_HOST": "http://localhost:3000"},
            "client_host",
            "warning",
            "CORE__CLIENT_HOST is http://localhost:3000",
        ),
        (
            {"CORE__CLIENT_HOST": "https://nowhere.invalid"},
            "client_host",
            "warning",
            "cannot be resolved: nowhere.invalid",
        ),
        ({"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": "1"}, "mail", "fault", "127.0.0.1:1"),
        (
            {"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": "1", "MAIL_USERNAME": "desk"},
            "mail",
            "fault",
            "MAIL_PASSWORD is not",
        ),
        (
            {"FIRST_SUPERUSER_PASSWORD": "changethis"},
            "superuser",
            "fault",
            "still has its default value",
        ),
    ],
)
def test_setting_is_named(
    make_app: MakeApp, settings: dict[str, str], check: str, level: str, words: str
) -> None:
    found = doctor(make_app(**settings))
    assert any(words in text for name, grade, text in found if (name, grade) == (check, level))


@only_on("sqlite")
def test_memory_store_with_two_workers_is_named(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "2")
    assert "in memory, with 2 workers" in of(doctor(make_app()), "keystore", "fault")


@only_on("sqlite")
def test_pending_migrations_are_named_without_alembics_lines(
    make_app: MakeApp, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'empty.db'}", CORE__LOG_LEVEL="INFO")
    message = of(doctor(app), "migrations", "fault")
    assert message.startswith("Migrations are pending: 0031_shared_broadcasts, ")
    assert "alembic" not in capsys.readouterr().err


@only_on("sqlite")
@pytest.mark.parametrize("keystore", ["memory", "database"])
def test_database_away_is_one_finding_with_its_address(make_app: MakeApp, keystore: str) -> None:
    port = free_port()
    url = f"postgresql+psycopg://nobody:hunter2@127.0.0.1:{port}/none?sslpassword=hunter2"
    found = doctor(make_app(CORE__DATABASE_URL=url, CORE__KEYSTORE=keystore))
    message = of(found, "database", "fault")
    assert f"127.0.0.1:{port}/none cannot be reached" in message
    assert "hunter2" not in message
    assert [text for _, _, text in found if "OperationalError" in text] == [message]


@pytest.fixture
def own_database(backend: Backend) -> Iterator[str]:
    with postgres_database(f"frontdesk_broken_{free_port()}") as url:
        yield url


@only_on("postgresql")
def test_read_only_database_is_named(make_app: MakeApp, own_database: str) -> None:
    app = make_app(CORE__DATABASE_URL=own_database)
    assert app.test_cli_runner().invoke(args=["db", "upgrade"]).exit_code == 0
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    with engine.connect() as connection:
        name = sa.make_url(own_database).database
        connection.exec_driver_sql(
            f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'
        )
    engine.dispose()
    assert "accepts no writes" in of(doctor(app), "database", "fault")


@only_on("postgresql")
def test_clock_that_is_wrong_is_named(make_app: MakeApp, clock: SteppingClock) -> None:
    app = make_app()
    assert [check for check, _, _ in doctor(app) if check == "clock"] == []
    clock.step(hours=3)
    messages = [text for check, _, text in doctor(app) if check == "clock"]
    assert [name for text in messages for name in ("PostgreSQL", "Redis") if name in text] == [
        "PostgreSQL",
        "Redis",
    ]
    assert all("seconds ahead of" in text for text in messages)


@only_on("postgresql")
def test_pooler_in_transaction_mode_is_named(make_app: MakeApp, backend: Backend) -> None:
    with pgbouncer(backend.database_url, "transaction") as url:
        found = doctor(make_app(CORE__DATABASE_URL=url))
    assert "pool_mode = transaction" in of(found, "pooler", "fault")


@only_on("postgresql")
@pytest.mark.parametrize("hosts", ["localhost:1", "localhost:1,127.0.0.1:1"])
def test_direct_url_without_a_server_is_named(make_app: MakeApp, hosts: str) -> None:
    app = make_app(CORE__DATABASE_DIRECT_URL=f"postgresql://me:hunter2@{hosts}/frontdesk")
    message = of(doctor(app), "pooler", "fault")
    assert hosts.replace(":1", "") in message
    assert "CORE__DATABASE_DIRECT_URL" in message
    assert "hunter2" not in message


@only_on("sqlite")
def test_full_redis_is_named(make_app: MakeApp, tmp_path: Path) -> None:
    with redis_server(tmp_path) as url, redis.Redis.from_url(url) as server:
        server.config_set("maxmemory", "1")
        message = of(doctor(make_app(CORE__REDIS_URL=url)), "keystore", "fault")
    assert url.split("/")[2] in message
    assert "maxmemory" in message


@only_on("sqlite")
def test_node_of_a_redis_cluster_is_named_with_the_url_to_use(
    make_app: MakeApp, tmp_path: Path
) -> None:
    options = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    with redis_server(tmp_path, None, *options) as url:
        message = of(doctor(make_app(CORE__REDIS_URL=url)), "keystore", "fault")
        assert "begin CORE__REDIS_URL with redis+cluster://" in message
    wrong = "redis+sentinel://:hunter2@127.0.0.1:1,127.0.0.1:2/mymaster?sentinel_password=hunter2"
    message = of(doctor(make_app(CORE__REDIS_URL=wrong)), "keystore", "fault")
    assert "at mymaster (sentinels 127.0.0.1:1, 127.0.0.1:2): No master 'mymaster'" in message
    assert "hunter2" not in message


def test_broker_without_workers_or_away_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORE__DATABASE_URL", "sqlite://")
    with redis_server(tmp_path) as url:
        monkeypatch.setenv("CORE__CELERY_BROKER_URL", url)
        app = create_app(load(Settings))
        assert "No Celery worker consumes" in of(doctor(app), "workers", "fault")
    assert "no server listens there" in of(doctor(app), "broker", "fault")
