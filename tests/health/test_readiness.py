"""Readiness checks with real servers: ready means that requests can succeed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from flask import Flask

from app.testing.client import Api

from ..conftest import Backend, MakeApp, MakePerson, migrate, only_on
from ..rigs.backends import free_port, postgres_database, redis_server
from ..rigs.clusters import postgres_cluster
from ..rigs.disks import small_disk
from ..rigs.processes import within

DATABASE_DOWN = {"database": "down", "keystore": "ok"}
KEYSTORE_DOWN = {"database": "ok", "keystore": "down"}
SCHEMA_DOWN = {"database": "ok", "schema": "down", "keystore": "ok"}


def checks(app: Flask) -> dict[str, str]:
    """Return the checks of an uncached readiness response."""
    for service in app.extensions["frontdesk"].services.values():
        getattr(service, "_fresh", {}).clear()
    response = app.test_client().get("/api/v1/health/ready")
    body: dict[str, Any] = response.json or {}
    found: dict[str, str] = body["checks"]
    assert response.status_code == (503 if "down" in found.values() else 200)
    assert body["status"] == ("down" if "down" in found.values() else "ok")
    return found


def all_ok(app: Flask) -> Callable[[], bool]:
    return lambda: checks(app) == {"database": "ok", "keystore": "ok"}


def run(url: str, *statements: str) -> None:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.fixture
def own_database() -> Iterator[str]:
    """A PostgreSQL database for one test, which may change the database's settings."""
    with postgres_database(f"frontdesk_ready_{os.getpid()}") as url:
        migrate(url)
        yield url


@only_on("sqlite")
def test_database_with_read_only_transactions_is_down_and_writes_are_503(
    make_app: MakeApp, own_database: str
) -> None:
    name = sa.make_url(own_database).database
    run(own_database, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    app = make_app(CORE__DATABASE_URL=own_database)
    assert checks(app) == DATABASE_DOWN
    response = Api(app).post("/tasks/", 503, json={"title": "Refused"})
    assert response.json["code"] == "unavailable"
    assert response.headers["Retry-After"] == "1"
    Api(app).get("/tasks/")
    run(
        own_database,
        "SET default_transaction_read_only = off",
        f'ALTER DATABASE "{name}" RESET default_transaction_read_only',
    )
    within(5, all_ok(app))
    Api(app).post("/tasks/", 201, json={"title": "Stored"})


@only_on("sqlite")
def test_standby_is_down_until_it_is_promoted(make_app: MakeApp) -> None:
    with postgres_cluster() as primary:
        migrate(primary.url)
        with postgres_cluster(of=primary) as standby:
            app = make_app(CORE__DATABASE_URL=standby.url)
            within(10, lambda: checks(app) == DATABASE_DOWN)
            Api(app).post("/tasks/", 503, json={"title": "Refused"})
            Api(app).get("/tasks/")
            standby.promote()
            within(5, all_ok(app))
            Api(app).post("/tasks/", 201, json={"title": "Stored"})


@only_on("sqlite")
def test_connections_to_a_demoted_primary_are_dropped(make_app: MakeApp, own_database: str) -> None:
    app = make_app(CORE__DATABASE_URL=own_database, CORE__DATABASE_POOL_SIZE="1")
    Api(app).post("/tasks/", 201, json={"title": "Stored"})
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    with engine.connect() as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = on")
    Api(app).post("/tasks/", 503, json={"title": "Refused"})
    Api(app).post("/tasks/", 201, json={"title": "Stored over a new connection"})


@only_on("sqlite")
def test_read_only_sqlite_is_down(backend: Backend, make_app: MakeApp) -> None:
    path = backend.database_url.removeprefix("sqlite:///")
    run(backend.database_url, "PRAGMA journal_mode = WAL")
    app = make_app(CORE__DATABASE_URL=f"sqlite:///file:{path}?mode=ro&uri=true")
    assert checks(app) == DATABASE_DOWN
    Api(app).post("/tasks/", 503, json={"title": "Refused"})


@only_on("sqlite")
def test_full_disk_is_down(make_app: MakeApp, backend: Backend, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        if not disk.mounted:
            pytest.skip("only root can mount a small file system")
        url = f"sqlite:///{disk.folder / 'x.db'}"
        migrate(url)
        app = make_app(CORE__DATABASE_URL=url)
        assert all_ok(app)()
        disk.fill([])
        assert checks(app) == DATABASE_DOWN
        disk.free_space([])
        assert all_ok(app)()


@only_on("sqlite")
def test_locked_sqlite_database_is_ready(make_app: MakeApp, backend: Backend) -> None:
    app = make_app()
    engine = sa.create_engine(backend.database_url)
    with engine.connect() as writer:
        writer.exec_driver_sql("BEGIN IMMEDIATE")
        start = time.monotonic()
        assert all_ok(app)()
        assert time.monotonic() - start < 2
    engine.dispose()


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@only_on("sqlite")
def test_outdated_schema_is_down(
    make_app: MakeApp, request: pytest.FixtureRequest, backend: Backend, database: str
) -> None:
    url = backend.database_url
    if database == "postgresql":
        url = request.getfixturevalue("own_database")
    app = make_app(CORE__DATABASE_URL=url)
    assert all_ok(app)()
    assert app.test_cli_runner().invoke(args=["db", "downgrade"]).exit_code == 0
    assert checks(app) == SCHEMA_DOWN
    assert app.test_cli_runner().invoke(args=["db", "upgrade"]).exit_code == 0
    assert all_ok(app)()


@only_on("sqlite")
def test_database_without_tables_has_no_schema(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'empty.db'}")
    assert checks(app) == SCHEMA_DOWN


@only_on("sqlite")
def test_newer_schema_is_ready(make_app: MakeApp, backend: Backend) -> None:
    """During an upgrade, the database is migrated before the last old process stops."""
    run(backend.database_url, "UPDATE alembic_version SET version_num = '9999_future'")
    app = make_app()
    assert all_ok(app)()
    run(backend.database_url, "ALTER TABLE accounts DROP COLUMN logged_out_at")
    assert checks(app) == SCHEMA_DOWN


def test_probes_leave_no_row_and_success_is_cached_for_two_seconds(
    make_app: MakeApp, backend: Backend
) -> None:
    app = make_app(CORE__KEYSTORE="memory")
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    writes: list[str] = []

    def record_write(_c: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT"):
            writes.append(statement)

    sa.event.listen(engine, "before_cursor_execute", record_write)
    try:
        for _ in range(5):
            Api(app).get("/health/ready")
    finally:
        sa.event.remove(engine, "before_cursor_execute", record_write)
    assert len(writes) == 1
    with engine.connect() as connection:
        count = "SELECT count(*) FROM frontdesk_keystore_entries"
        assert connection.exec_driver_sql(count).scalar_one() == 0


@only_on("sqlite")
def test_full_redis_is_down(make_app: MakeApp, tmp_path: Path, person: MakePerson) -> None:
    with redis_server(tmp_path) as url, redis.Redis.from_url(url) as server:
        app = make_app(CORE__REDIS_URL=url)
        assert all_ok(app)()
        server.config_set("maxmemory-policy", "noeviction")
        server.config_set("maxmemory", "1")
        assert checks(app) == KEYSTORE_DOWN
        server.config_set("maxmemory", "0")
        assert all_ok(app)()


@pytest.mark.parametrize("has_slots", [True, False])
@only_on("sqlite")
def test_node_of_a_redis_cluster_is_down(
    make_app: MakeApp, tmp_path: Path, has_slots: bool
) -> None:
    # By default the cluster port is the server's port plus 10000, which may be in use.
    cluster = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    with redis_server(tmp_path, None, *cluster) as url:
        if has_slots:
            with redis.Redis.from_url(url) as node:
                node.execute_command("CLUSTER ADDSLOTSRANGE 0 16383")
                within(10, lambda: "ok" in str(node.execute_command("CLUSTER INFO")))
        assert checks(make_app(CORE__REDIS_URL=url)) == KEYSTORE_DOWN
