from __future__ import annotations

import gc
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import redis
from flask import Flask

from app import Parts, create_app
from app.core.config.environment import load
from app.delivery.worker.background import Background, Work
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD as PASSWORD
from app.testing.people import Person as Person
from app.testing.people import make_person
from config import Settings

from .rigs.backends import memory_folder, postgres_database, redis_server
from .rigs.database_cleaner import DatabaseCleaner
from .rigs.documented_problems import note_undocumented_problems
from .rigs.engines import cache_statements, reuse_connections, share_statements
from .rigs.manual_engine import ManualEngine
from .rigs.poolers import pgbouncer
from .rigs.routing import cache_rules
from .rigs.stages import AddedStages
from .rigs.templates import cache_templates
from .rounds import ALONE, LONG, POOLED, WAITING, is_repetition

pytest_plugins = [
    "app.testing.plugin",
    "tests.rigs.installed",
    "tests.rigs.oidc.fixtures",
    "tests.rigs.oidc.fake_fixtures",
    "tests.rigs.oidc.campus",
    "tests.rigs.postfix",
    "tests.rigs.chromium",
]

BACKENDS = ("sqlite", "postgresql")
POOLED_BACKEND = "postgresql-pooled"
# More backends for the tests of some files.
MORE_BACKENDS = {POOLED_BACKEND: POOLED}
SECRET = "a secret key for the tests, long enough for HS256, and for HS512 as well"


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of some files through a connection pooler too."""
    function = metafunc.definition
    more = [name for name, files in MORE_BACKENDS.items() if function.nodeid.startswith(files)]
    if not more or "backend" not in metafunc.fixturenames:
        return
    if not any("backend" in mark.args[0] for mark in function.iter_markers("parametrize")):
        function.add_marker(pytest.mark.parametrize("backend", [*BACKENDS, *more], indirect=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = {item.nodeid for item in items}
    for item in items:
        if is_repetition(item.nodeid, tests):
            item.add_marker(pytest.mark.repetition)
        if item.nodeid.startswith(WAITING):
            item.add_marker(pytest.mark.waiting)
        if item.nodeid.startswith(ALONE):
            item.add_marker(pytest.mark.alone)
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, and collect garbage less often: each
    application is a large cycle of references, and creating one would start many collections."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 100)


@dataclass
class Backend:
    name: str
    database_url: str
    redis_url: str | None = None


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run each test without the machine's environment variables, without a `.env`, and with the
    default log level."""
    logging.getLogger().setLevel(logging.WARNING)
    for name in list(os.environ):
        if name == "SECRET_KEY" or name.startswith(
            (
                "CORE__",
                "AUDIT__",
                "AUTH__",
                "NOTIFICATIONS__",
                "PROFILES__",
                "WORKSPACES__",
                "TASKS__",
                "IDP_",
                "SMS_",
                "MAIL_",
                "BRAND",
                "FIRST_",
                "FLASK_",
                *(
                    f"FRONTDESK_{space}"
                    for space in ("AUTH", "CORE", "SECRET", "IDP_", "SMS_", "MAIL_")
                ),
            )
        ):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _working_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures that outlive a test do not run in the checkout either: `.env` is read and
    `instance/` is created in the working folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("working"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _cache_routes_and_templates() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        cache_rules(patch)
        cache_templates(patch)
        yield


@pytest.fixture(autouse=True)
def _stop_background_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    created: list[Background] = []
    create = Background.__init__

    def create_and_record(self: Background, name: str, work: Work) -> None:
        created.append(self)
        create(self, name, work)

    monkeypatch.setattr(Background, "__init__", create_and_record)
    yield
    for background in created:
        background.stop(5.0)


@pytest.fixture(scope="session")
def _memory_folder() -> Iterator[Path]:
    with memory_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def _migrated_sqlite(_memory_folder: Path) -> Path:
    path = _memory_folder / "migrated.db"
    migrate(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection:
        # Tests copy only the database file, so its write-ahead log must be empty.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture(scope="session")
def _migrated_postgres() -> Iterator[str]:
    name = f"frontdesk_test_{os.getpid()}"
    with postgres_database(name) as url, reuse_connections(name):
        migrate(url)
        yield url


@pytest.fixture(scope="session")
def _cleaner(_migrated_postgres: str) -> Iterator[DatabaseCleaner]:
    with closing(DatabaseCleaner(_migrated_postgres)) as cleaner:
        yield cleaner


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def _redis(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Run an S3 server and yield its URL."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    # The first request loads code for longer than the service waits for a response.
    with urlopen(url, timeout=60):
        yield url
    server.stop()


@pytest.fixture(scope="session")
def _pooled_postgres(_migrated_postgres: str) -> Iterator[str]:
    with pgbouncer(_migrated_postgres, "transaction") as url:
        yield url


@pytest.fixture(params=BACKENDS)
def backend(
    request: pytest.FixtureRequest, tmp_path: Path, _memory_folder: Path
) -> Iterator[Backend]:
    """SQLite with the in-memory state store, and PostgreSQL with Redis: directly, or pooled."""
    if request.param.startswith("sqlite"):
        folder = _memory_folder / tmp_path.name
        folder.mkdir()
        path = folder / "frontdesk.db"
        shutil.copy(request.getfixturevalue("_migrated_sqlite"), path)
        yield Backend("sqlite", f"sqlite:///{path}")
        shutil.rmtree(folder, ignore_errors=True)
        return
    is_pooled = request.param == POOLED_BACKEND
    url = request.getfixturevalue("_pooled_postgres" if is_pooled else "_migrated_postgres")
    redis_url = request.getfixturevalue("redis_url")
    cleaner: DatabaseCleaner = request.getfixturevalue("_cleaner")
    keys: redis.Redis = request.getfixturevalue("_redis")
    yield Backend("postgresql", url, redis_url)
    cleaner.delete_rows()
    keys.flushdb()


def only_on(name: str) -> pytest.MarkDecorator:
    """Run a test on one database only."""
    return pytest.mark.parametrize("backend", [name], indirect=True)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def mails() -> MailOutbox:
    return MailOutbox()


@pytest.fixture
def engine() -> ManualEngine:
    """Delivers when the test calls it, for the application that was created last."""
    return ManualEngine()


MakeApp = Callable[..., Flask]


@pytest.fixture
def make_app(
    backend: Backend,
    clock: SteppingClock,
    mails: MailOutbox,
    engine: ManualEngine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[MakeApp]:
    """Create the service with settings from environment variables: `make_app(AUTH__X="1")`."""
    created: list[Flask] = []

    def make(**environment: str) -> Flask:
        defaults = {
            "SECRET_KEY": SECRET,
            "CORE__DATABASE_URL": backend.database_url,
            "CORE__LOG_LEVEL": "WARNING",
            "AUTH__BCRYPT_ROUNDS": "4",
            "PROFILES__AVATAR_FOLDER": str(tmp_path / "avatars"),
        }
        if backend.redis_url:
            defaults["CORE__REDIS_URL"] = backend.redis_url
        with monkeypatch.context() as patch:
            for name, value in {**defaults, **environment}.items():
                patch.setenv(name, value)
            parts = Parts(
                clock=clock, one_off_mail=mails, engine=engine, sign_in_stages=[AddedStages()]
            )
            app = create_app(load(Settings), parts=parts)
        app.testing = True
        created.append(app)
        with app.app_context():
            share_statements(app.extensions["sqlalchemy"].engine)
        undocumented.append(note_undocumented_problems(app))
        return app

    undocumented: list[set[str]] = []
    yield make
    assert set().union(*undocumented) == set(), "routes return undocumented problems"
    for app in created:
        close_connections(app)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app()


@pytest.fixture
def api(app: Flask) -> Api:
    return Api(app)


MakePerson = Callable[..., Person]


@pytest.fixture
def person(app: Flask) -> MakePerson:
    """Create an account and its user: `person("ada", role="admin")`."""

    def make(name: str = "ada", *, into: Flask | None = None, **fields: Any) -> Person:
        return make_person(into or app, name, prefix="/api/v1", **fields)

    return make


@pytest.fixture
def ada(person: MakePerson) -> Person:
    return person("ada")


def migrate(url: str, *command: str) -> None:
    """Run a command that changes the schema, the migrations by default."""
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    app = create_app(settings)
    result = app.test_cli_runner().invoke(args=command or ["db", "upgrade"])
    assert result.exit_code == 0, result.output
    with app.app_context():
        cache_statements(app.extensions["sqlalchemy"].engine)
    close_connections(app)


def close_connections(app: Flask) -> None:
    """Close the application's connections: the server allows a hundred."""
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()
