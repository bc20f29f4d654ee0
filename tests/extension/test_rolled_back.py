"""`rolled_back(app)` undoes what a test leaves in the database and in the state store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask

from app.blueprints import auth, health
from app.core.config.settings import CoreSettings
from app.core.keystore import Keystore, MemoryKeystore, check_keystore_writes
from app.core.keystore.base import Keystore as KeystoreProtocol
from app.testing.client import Api
from app.testing.database import _METHODS, rolled_back
from app.testing.people import PASSWORD, make_person

from ..rigs.backends import postgres_database, redis_server
from ..rigs.hosts import HostSettings, plain_app


def settings_with(**core: Any) -> HostSettings:
    settings = HostSettings()
    settings.CORE = CoreSettings(PROJECT_NAME="Host", LOG_LEVEL="ERROR", **core)
    return settings


def host_on(database_url: str, settings: HostSettings) -> Flask:
    from app import Frontdesk
    from app.accounts.account import Account

    host, db = plain_app(database_url, SECRET_KEY="a key of the application, long enough for it")
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    host.register_blueprint(auth, url_prefix="/api")
    with host.app_context():
        db.create_all()
    return host


@pytest.fixture(params=["memory", "sqlite", "postgresql", "redis"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Flask]:
    file = f"sqlite:///{tmp_path}/host.db"
    if request.param == "memory":
        yield host_on(file, settings_with(KEYSTORE="memory"))
    elif request.param == "sqlite":
        yield host_on(file, settings_with(KEYSTORE="database"))
    elif request.param == "postgresql":
        with postgres_database(f"frontdesk_rolled_back_{uuid4().hex[:8]}") as url:
            host = host_on(url, settings_with(KEYSTORE="database"))
            yield host
            with host.app_context():
                host.extensions["sqlalchemy"].engine.dispose()
    else:
        with redis_server(tmp_path) as url:
            yield host_on(file, settings_with(KEYSTORE="redis", REDIS_URL=url))


def log_in(host: Flask, status: int, password: str = PASSWORD) -> None:
    form = {"username": "ada@example.com", "password": password}
    Api(host, "/api").post("/login", status, data=form)


def test_rate_limits_are_reset_after_every_test(host: Flask) -> None:
    for _ in range(3):
        with rolled_back(host):
            make_person(host, "ada")
            log_in(host, 200)
            for _ in range(5):
                log_in(host, 400, "wrong password")
            log_in(host, 429, "wrong password")
    make_person(host, "ada")
    log_in(host, 200)


def test_state_store_is_restored_after_a_test(host: Flask) -> None:
    store: Keystore = host.extensions["frontdesk"].keystore
    with host.app_context():
        store.put("before", "here", 60)
        with suppress(ZeroDivisionError), rolled_back(host):
            assert store.get("before") is None
            store.put("before", "changed", 60)
            store.put("within", "here", 60)
            check_keystore_writes(store)
            raise ZeroDivisionError("a test that fails")
        assert store.get_many(["before", "within"]) == ["here", None]


def test_accounts_of_a_test_are_removed(host: Flask) -> None:
    with rolled_back(host):
        make_person(host, "ada")
    log_in(host, 400)


def test_expired_entries_can_be_pruned_during_a_test(host: Flask) -> None:
    with rolled_back(host):
        done = host.test_cli_runner().invoke(args=["frontdesk", "prune"])
    assert done.exit_code == 0, done.output


def test_service_is_ready_during_a_test(host: Flask) -> None:
    host.register_blueprint(health)
    with rolled_back(host):
        assert Api(host, prefix="").get("/health/ready").json["status"] == "ok"


def test_every_method_of_the_state_store_is_replaced() -> None:
    methods = {name for name in vars(KeystoreProtocol) if not name.startswith("_")}
    assert set(_METHODS) == methods
    assert all(hasattr(MemoryKeystore, name) for name in methods)
