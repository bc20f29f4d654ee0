"""PgBouncer in front of PostgreSQL is detected and reported, and does not affect responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from flask import Flask

from app import create_app
from app.core.config.environment import SettingsError, load
from app.core.db.migrations import MIGRATION_LOCK
from app.core.db.pooler import pooler_problem
from app.testing.client import Api
from config import Settings

from ..conftest import PASSWORD, SECRET, Backend, MakeApp, MakePerson, close_connections, only_on
from ..rigs.poolers import pgbouncer

SENTENCE = "through a connection pooler in transaction mode"


@pytest.fixture
def pooled(backend: Backend, request: pytest.FixtureRequest) -> Iterator[str]:
    with pgbouncer(backend.database_url, request.param) as url:
        yield url


def found(app: Flask) -> list[str]:
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    findings = json.loads(result.stdout.splitlines()[-1])["findings"]
    return [finding["message"] for finding in findings if finding["check"] == "pooler"]


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_transaction_mode_is_reported_at_startup_and_by_the_doctor(
    make_app: MakeApp, pooled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_URL=pooled)
    assert capsys.readouterr().err.count(SENTENCE) == 1
    [message] = found(app)
    assert SENTENCE in message
    assert "pool_mode = session" in message


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_transaction_mode_stops_a_strict_startup(
    pooled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": pooled,
        "CORE__KEYSTORE": "memory",
        "CORE__PRODUCTION_CHECKS": "refuse",
        "FIRST_SUPERUSER_PASSWORD": PASSWORD,
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=SENTENCE):
        create_app(load(Settings))


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_migrations_refuse_transaction_mode_and_leave_no_lock(
    make_app: MakeApp, pooled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = make_app(CORE__DATABASE_URL=pooled).test_cli_runner().invoke(args=["db", "upgrade"])
    assert result.exit_code == 1
    assert "connect to PostgreSQL directly. Migrations hold a lock" in capsys.readouterr().err
    # Other tests migrate other databases of the same server.
    locks = sa.text(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE locktype = 'advisory' AND objid = :key AND datname = current_database()"
    )
    direct = make_app()
    with direct.app_context(), direct.extensions["sqlalchemy"].engine.connect() as connection:
        # pg_locks shows the lower half of the key.
        assert connection.scalar(locks, {"key": MIGRATION_LOCK % 2**32}) == 0


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["session"], indirect=True)
def test_migrations_run_in_session_mode(make_app: MakeApp, pooled: str) -> None:
    result = make_app(CORE__DATABASE_URL=pooled).test_cli_runner().invoke(args=["db", "upgrade"])
    assert result.exit_code == 0, result.output


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["session"], indirect=True)
def test_session_mode_is_not_reported(
    make_app: MakeApp, pooled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_URL=pooled)
    assert SENTENCE not in capsys.readouterr().err
    assert found(app) == []


@only_on("postgresql")
def test_direct_connections_are_not_reported(make_app: MakeApp, backend: Backend) -> None:
    assert found(make_app()) == []
    engine = sa.create_engine("postgresql+psycopg://unknown@127.0.0.1:1/none")
    assert pooler_problem(engine) is None


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["session", "transaction"], indirect=True)
def test_clients_of_one_pool_get_their_own_responses(
    make_app: MakeApp, pooled: str, person: MakePerson
) -> None:
    """Two processes with many threads share the few connections of the pooler."""
    apps = [
        make_app(
            CORE__DATABASE_URL=pooled,
            CORE__DATABASE_POOL_SIZE="6",
            TASKS__CREATE_LIMIT="9999 per minute",
        )
        for _ in "ab"
    ]
    people = [person(f"p{number}") for number in range(4)]
    clients = [(Api(app, token=ada.token()), ada.email) for app in apps for ada in people]

    def ask(number: int) -> tuple[int, bool]:
        client, email = clients[number % len(clients)]
        title = f"t{number}"
        posted = client.client.post(
            "/api/v1/tasks/", json={"title": title}, headers={"X-Owner": email}
        )
        account = client.client.get(
            "/api/v1/account", headers={"Authorization": f"Bearer {client.token}"}
        )
        own_tasks = (posted.json or {}).get("title") == title
        return max(posted.status_code, account.status_code), own_tasks and (account.json or {}).get(
            "email"
        ) == email

    with ThreadPoolExecutor(8) as pool:
        emails = set(pool.map(ask, range(400)))
    assert emails == {(201, True)}
    for app in apps:
        close_connections(app)


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_sessions_are_in_utc_through_a_pooler(
    make_app: MakeApp, pooled: str, backend: Backend
) -> None:
    app = make_app(CORE__DATABASE_URL=pooled)
    with app.app_context(), app.extensions["sqlalchemy"].engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW timezone").scalar_one() == "UTC"
        assert connection.connection.driver_connection.prepare_threshold is None
