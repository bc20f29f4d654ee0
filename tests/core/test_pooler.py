"""PgBouncer in front of PostgreSQL is detected, and does not affect responses."""

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
from app.core.db.pooler import prepared_problem, shares_sessions
from app.core.db.prepared import PreparedStatements
from app.testing.client import Api
from config import Settings

from ..conftest import PASSWORD, SECRET, Backend, MakeApp, MakePerson, close_connections, only_on
from ..rigs.poolers import pgbouncer

TRANSACTION_MODE = "through a connection pooler in transaction mode"
LOST_STATEMENTS = "set CORE__DATABASE_PREPARED=off"
PREPARES_NOTHING = "this process prepares no statements"


@pytest.fixture
def pooled(backend: Backend, request: pytest.FixtureRequest) -> Iterator[str]:
    with pgbouncer(backend.database_url, request.param) as url:
        yield url


def found(app: Flask) -> list[str]:
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    findings = json.loads(result.stdout.splitlines()[-1])["findings"]
    return [finding["message"] for finding in findings if finding["check"] == "pooler"]


def threshold(app: Flask) -> int | None:
    """Return after how many executions the application prepares a statement."""
    with app.app_context(), app.extensions["sqlalchemy"].engine.connect() as connection:
        number: int | None = connection.connection.driver_connection.prepare_threshold
        return number


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["session", "transaction"], indirect=True)
def test_process_behind_a_pooler_prepares_nothing_and_logs_one_warning(
    make_app: MakeApp, pooled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_URL=pooled)
    for _ in range(2):
        assert threshold(app) is None
        close_connections(app)
    assert capsys.readouterr().err.count(PREPARES_NOTHING) == 1


@only_on("postgresql")
@pytest.mark.parametrize(("mode", "prepares"), [("auto", True), ("on", True), ("off", False)])
def test_setting_decides_whether_direct_connections_prepare(
    make_app: MakeApp, mode: str, prepares: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_PREPARED=mode)
    assert (threshold(app) is not None) == prepares
    assert PREPARES_NOTHING not in capsys.readouterr().err


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_pooler_that_loses_prepared_statements_stops_a_strict_startup(
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
    create_app(load(Settings))
    monkeypatch.setenv("CORE__DATABASE_PREPARED", "on")
    with pytest.raises(SettingsError, match=LOST_STATEMENTS):
        create_app(load(Settings))


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_lost_statement_switches_preparing_off_and_repeats_the_request(
    make_app: MakeApp, pooled: str, person: MakePerson, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = person("ada")
    app = make_app(CORE__DATABASE_URL=pooled, CORE__DATABASE_PREPARED="on")
    other = make_app(CORE__DATABASE_URL=pooled, CORE__DATABASE_PREPARED="off")
    api = Api(app, token=ada.token())
    with other.app_context(), other.extensions["sqlalchemy"].engine.connect() as connection:
        blocker = connection.execution_options(isolation_level="READ COMMITTED")
        for _ in range(10):
            api.get("/account")
            # The transaction keeps the backend that the request has used.
            with blocker.begin():
                blocker.exec_driver_sql("SELECT 1")
                api.get("/account")
    assert threshold(app) is None
    assert capsys.readouterr().err.count(PREPARES_NOTHING) >= 1


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_migrations_need_a_direct_url_in_transaction_mode_and_leave_no_lock(
    make_app: MakeApp, pooled: str, backend: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(CORE__DATABASE_URL=pooled)
    [message] = found(app)
    assert TRANSACTION_MODE in message
    result = app.test_cli_runner().invoke(args=["db", "upgrade"])
    assert result.exit_code == 1
    assert "set CORE__DATABASE_DIRECT_URL to" in capsys.readouterr().err
    direct = make_app(CORE__DATABASE_URL=pooled, CORE__DATABASE_DIRECT_URL=backend.database_url)
    assert found(direct) == []
    assert direct.test_cli_runner().invoke(args=["db", "upgrade"]).exit_code == 0
    # Other tests migrate other databases of the same server.
    locks = sa.text(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE locktype = 'advisory' AND objid = :key AND datname = current_database()"
    )
    with direct.app_context(), direct.extensions["sqlalchemy"].engine.connect() as connection:
        # pg_locks shows the lower half of the key.
        assert connection.scalar(locks, {"key": MIGRATION_LOCK % 2**32}) == 0


@only_on("postgresql")
@pytest.mark.parametrize("pooled", ["transaction"], indirect=True)
def test_direct_url_through_the_pooler_is_reported(make_app: MakeApp, pooled: str) -> None:
    [message] = found(make_app(CORE__DATABASE_URL=pooled, CORE__DATABASE_DIRECT_URL=pooled))
    assert TRANSACTION_MODE in message


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
    assert TRANSACTION_MODE not in capsys.readouterr().err
    assert found(app) == []
    assert found(make_app(CORE__DATABASE_URL=pooled, CORE__DATABASE_PREPARED="on")) == []


@only_on("postgresql")
def test_direct_connections_are_not_reported(make_app: MakeApp, backend: Backend) -> None:
    assert found(make_app()) == []
    engine = sa.create_engine("postgresql+psycopg://unknown@127.0.0.1:1/none")
    assert prepared_problem(engine) is None
    assert not shares_sessions(engine)


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


def test_switched_off_preparing_stays_off_after_a_search() -> None:
    class Connection:
        prepare_threshold: int | None = 5

    connection, prepared = Connection(), PreparedStatements("auto")
    prepared.add(connection, is_pooled=False)
    before, connection.prepare_threshold = connection.prepare_threshold, None
    prepared.switch_off("Another connection lost its statements")
    prepared.restore(connection, before)
    assert connection.prepare_threshold is None
