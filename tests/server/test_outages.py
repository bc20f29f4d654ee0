"""When a server is down or silent, requests get 503 within five seconds; they succeed again soon
after it returns."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.engine import make_url

from app.core.config.environment import SettingsError
from app.core.process.circuit_breaker import CircuitBreaker
from app.testing.client import Answer, Api

from ..conftest import Backend, MakeApp, MakePerson, only_on
from ..rigs.backends import free_port, redis_server
from ..rigs.tcp_proxy import TcpProxy

MAX_SECONDS = 5.0


@pytest.fixture
def postgres_proxy(backend: Backend) -> Iterator[TcpProxy]:
    url = make_url(backend.database_url)
    proxy = TcpProxy(url.host or "127.0.0.1", url.port or 5432)
    yield proxy
    proxy.cut()


def timed(ask: Any) -> Answer:
    """Send a request, assert that the response arrives in time, and return it."""
    began = time.monotonic()
    response: Answer = ask()
    assert time.monotonic() - began < MAX_SECONDS
    return response


def ask_until_back(api: Api, path: str) -> None:
    """Repeat a request until it succeeds, at most two seconds."""
    until = time.monotonic() + 2
    while api.client.get(f"/api/v1{path}", headers=bearer(api)).status_code != 200:
        assert time.monotonic() < until, "the service did not recover in time"
        time.sleep(0.05)


def bearer(api: Api) -> dict[str, str]:
    return {"Authorization": f"Bearer {api.token}"} if api.token else {}


@only_on("postgresql")
@pytest.mark.parametrize("fault", ["cut", "silent"])
def test_service_recovers_from_a_database_outage(
    backend: Backend, postgres_proxy: TcpProxy, make_app: MakeApp, person: MakePerson, fault: str
) -> None:
    url = make_url(backend.database_url).set(port=postgres_proxy.port)
    app = make_app(CORE__DATABASE_URL=url.render_as_string(hide_password=False))
    api = person(into=app).api()
    api.get("/account")
    if fault == "cut":
        postgres_proxy.cut()
    else:
        postgres_proxy.silent = True
    response = timed(lambda: api.get("/account", 503))
    assert response.detail == "The database is unavailable"
    assert response.headers["Retry-After"] == "1"
    assert timed(lambda: api.get("/health/ready", 503)).json["checks"]["database"] == "down"
    timed(lambda: Api(app).post("/login", 503, data={"username": "a@b.example", "password": "x"}))
    api.get("/health")
    postgres_proxy.restore()
    ask_until_back(api, "/account")


@pytest.fixture
def redis_app(tmp_path: Path, make_app: MakeApp) -> Iterator[tuple[Flask, TcpProxy]]:
    port = free_port()
    with redis_server(tmp_path, port):
        proxy = TcpProxy("127.0.0.1", port)
        yield make_app(CORE__REDIS_URL=f"redis://127.0.0.1:{proxy.port}/0"), proxy
        proxy.cut()


@only_on("postgresql")
def test_rejected_connection_within_a_request_is_503(
    app: Flask, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = person().api()
    api.post("/tasks/", 201, json={"title": "Before"})
    with monkeypatch.context() as silent:
        silent.setattr(CircuitBreaker, "is_rejecting", True)
        api.post("/tasks/", 503, json={"title": "During"})
        api.get("/account", 503)
    api.post("/tasks/", 201, json={"title": "Afterwards"})
    api.get("/account", 200)


@pytest.mark.parametrize("fault", ["cut", "silent"])
def test_service_recovers_from_a_keystore_outage(
    redis_app: tuple[Flask, TcpProxy], person: MakePerson, fault: str
) -> None:
    app, proxy = redis_app
    ada = person(into=app)
    api = ada.api()
    revoked = ada.api()
    if fault == "cut":
        proxy.cut()
    else:
        proxy.silent = True
    timed(lambda: api.get("/account"))
    form = {"username": ada.email, "password": ada.password}
    response = timed(lambda: Api(app).post("/login", 503, data=form))
    assert response.json["code"] == "keystore_unavailable"
    assert response.headers["Retry-After"] == "1"
    timed(lambda: revoked.delete("/logout"))
    assert timed(lambda: api.get("/account", 401)).detail == "Token expired"
    assert timed(lambda: api.get("/health/ready", 503)).json["checks"] == {
        "database": "ok",
        "keystore": "down",
    }
    api.get("/tasks/")
    proxy.restore()
    ask_until_back(api, "/health/ready")
    ada.api().get("/account")


def test_unreachable_keystore_is_not_replaced_by_memory(
    make_app: MakeApp, person: MakePerson, tmp_path: Path
) -> None:
    port = free_port()
    app = make_app(CORE__REDIS_URL=f"redis://127.0.0.1:{port}/0")
    ada = person(into=app)
    form = {"username": ada.email, "password": ada.password}
    timed(lambda: Api(app).post("/login", 503, data=form))
    with redis_server(tmp_path, port):
        ada.api().get("/account")


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"CORE__REDIS_HOST": "127.0.0.1"}, "REDIS_PASSWORD"),
        ({"CORE__REDIS_PASSWORD": "x"}, "REDIS_HOST"),
    ],
)
def test_incomplete_redis_settings_fall_back_to_memory_with_a_warning(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str], settings: dict[str, str], missing: str
) -> None:
    app = make_app(**{"CORE__REDIS_URL": "", **settings})
    assert type(app.extensions["frontdesk"].keystore).__name__ == "MemoryKeystore"
    assert missing in capsys.readouterr().err


def test_redis_url_of_an_unsupported_scheme_stops_the_start(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="CORE__REDIS_URL"):
        make_app(CORE__REDIS_URL="what://is this")


@only_on("sqlite")
def test_locked_sqlite_file_is_503(backend: Backend, make_app: MakeApp) -> None:
    app = make_app()
    path = backend.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        response = timed(lambda: Api(app).post("/tasks/", 503, json={"title": "x"}))
        assert response.headers["Retry-After"] == "1"
        Api(app).get("/tasks/")
    Api(app).post("/tasks/", 201, json={"title": "x"})
