"""A session that one worker revokes is rejected by all workers from the next request on."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Flask

from ..conftest import PASSWORD, SECRET, Backend, MakePerson
from ..rigs.servers import gunicorn_server
from ..rigs.workers import connections

WORKERS = 4
ROUNDS = 20
# Generous: an idle machine needs a hundredth of it.
MAX_SECONDS = 1.0


def ask(connection: HTTPConnection, method: str, path: str, token: str = "") -> tuple[int, Any]:
    connection.request(method, f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def sign_in(connection: HTTPConnection) -> str:
    form = urlencode({"username": "ada@example.com", "password": PASSWORD})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/api/v1/login", form, headers)
    return str(json.loads(connection.getresponse().read())["access_token"])


def test_all_workers_reject_a_revoked_session_immediately(
    app: Flask, backend: Backend, person: MakePerson, tmp_path: Path
) -> None:
    person("ada")
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": backend.database_url,
        "CORE__KEYSTORE": "database",
        "AUTH__BCRYPT_ROUNDS": "4",
        "AUTH__SESSIONS": "on",
        "WEB_CONCURRENCY": str(WORKERS),
    }
    slowest = 0.0
    with (
        gunicorn_server(settings, tmp_path / "log") as server,
        connections(server, "/api/v1/health", WORKERS) as workers,
    ):
        for number in range(ROUNDS):
            token = sign_in(workers[number % WORKERS])
            for worker in workers:
                assert ask(worker, "GET", "/account", token)[0] == 200
            path = "/logout" if number % 2 else "/sessions"
            assert ask(workers[number % WORKERS], "DELETE", path, token)[0] == 200
            begin = time.monotonic()
            assert [ask(worker, "GET", "/account", token)[0] for worker in workers] == [401] * 4
            slowest = max(slowest, time.monotonic() - begin)
    assert slowest < MAX_SECONDS
