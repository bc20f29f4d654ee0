"""Two servers with clocks 1.9 seconds apart: a revocation on one ends what the other has issued,
and what either issues directly afterwards is valid on both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from flask import Flask

from ..cli.test_command_line import run
from ..conftest import PASSWORD, SECRET, Backend, MakePerson, Person
from ..rigs.servers import gunicorn_server

FAST = """
from datetime import UTC, datetime, timedelta
from app import Parts, create_app

class Clock:
    def now(self):
        return datetime.now(UTC) + timedelta(seconds=1.9)

app = create_app(parts=Parts(clock=Clock()))
"""


class Machine:
    """A client of one server."""

    def __init__(self, port: int) -> None:
        self.port = port

    def send(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        kind = "application/x-www-form-urlencoded" if path in FORMS else "application/json"
        text = urlencode(body or {}) if path in FORMS else json.dumps(body)
        headers = {"Content-Type": kind, "Sec-Fetch-Site": "same-origin", **headers}
        connection.request(method, f"/api/v1{path}", None if body is None else text, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        cookie = response.getheader("Set-Cookie")
        connection.close()
        return response.status, answer, cookie

    def is_in(self, headers: dict[str, str]) -> bool:
        return bool(self.send("GET", "/account", headers)[0] == 200)


FORMS = ("/login", "/token")


class Credential(NamedTuple):
    sign_in: Callable[[Machine, str], Any]
    is_valid: Callable[[Machine, Any], bool]


def _token(machine: Machine, password: str) -> dict[str, str]:
    body = {"username": "ada@example.com", "password": password}
    status, answer, _ = machine.send("POST", "/login", {"Prefer": "refresh"}, body)
    assert status == 200, answer
    return bearer(answer["access_token"])


def _refresh_token(machine: Machine, password: str) -> str:
    body = {"username": "ada@example.com", "password": password}
    return str(machine.send("POST", "/login", {"Prefer": "refresh"}, body)[1]["refresh_token"])


def _is_refreshed(machine: Machine, refresh_token: str) -> bool:
    body = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    status, answer, _ = machine.send("POST", "/token", {}, body)
    return status == 200 and machine.is_in(bearer(answer["access_token"]))


def _cookie(machine: Machine, password: str) -> dict[str, str]:
    body = {"email": "ada@example.com", "password": password}
    status, answer, cookie = machine.send("POST", "/session", {}, body)
    assert status == 200, answer
    return {"Cookie": cookie.partition(";")[0]}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


TOKEN = Credential(_token, Machine.is_in)
INSTALLATIONS: dict[str, tuple[dict[str, str], tuple[Credential, ...]]] = {
    "without sessions": (
        {"AUTH__COOKIE_SESSIONS": "on"},
        (TOKEN, Credential(_cookie, Machine.is_in)),
    ),
    "with sessions": (
        {"AUTH__SESSIONS": "on", "AUTH__REFRESH_TOKEN_DAYS": "30"},
        (TOKEN, Credential(_refresh_token, _is_refreshed)),
    ),
}


class Pair(NamedTuple):
    slow: Machine
    fast: Machine
    credentials: tuple[Credential, ...]
    ada: Person
    admin: dict[str, str]
    app: Flask

    def sign_out_by_admin(self, machine: Machine, password: str) -> str:
        path = f"/admin/accounts/{self.ada.id}/sign-out"
        assert machine.send("POST", path, self.admin)[0] == 200
        return password

    def suspend(self, machine: Machine, password: str) -> str:
        path = f"/admin/accounts/{self.ada.id}"
        for status in ("suspended", "active"):
            assert machine.send("PATCH", path, self.admin, {"status": status})[0] == 200
        return password

    def change_password(self, machine: Machine, password: str) -> str:
        body = {"current_password": password, "new_password": f"{password} and more"}
        token = _token(machine, password)
        status, answer, _ = machine.send("PUT", "/account/password", token, body)
        assert status == 200, answer
        assert machine.is_in(bearer(answer["access_token"]))
        return f"{password} and more"

    def sign_out_everybody(self, _machine: Machine, password: str) -> str:
        run(self.app, "accounts", "sign-out", "--all", "--yes")
        return password


@pytest.fixture(params=INSTALLATIONS)
def pair(
    request: pytest.FixtureRequest, app: Flask, backend: Backend, person: MakePerson, tmp_path: Path
) -> Iterator[Pair]:
    more, credentials = INSTALLATIONS[request.param]
    ada, admin = person("ada"), person("boss", role="admin")
    (tmp_path / "fast_clock.py").write_text(FAST)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": backend.database_url,
        "CORE__KEYSTORE": "database",
        "AUTH__BCRYPT_ROUNDS": "4",
        "WEB_CONCURRENCY": "1",
        "PYTHONPATH": str(tmp_path),
        **more,
    }
    with ExitStack() as stack:
        ports = [
            stack.enter_context(gunicorn_server(settings, tmp_path / name, application=name)).port
            for name in ("wsgi:app", "fast_clock:app")
        ]
        slow, fast = map(Machine, ports)
        body = {"username": admin.email, "password": PASSWORD}
        token = fast.send("POST", "/login", {}, body)[1]["access_token"]
        yield Pair(slow, fast, credentials, ada, bearer(token), app)


CHANGES = (Pair.sign_out_by_admin, Pair.suspend, Pair.sign_out_everybody, Pair.change_password)


def test_revocations_hold_on_machines_with_different_clocks(pair: Pair) -> None:
    password, machines = PASSWORD, (pair.slow, pair.fast)
    for change in CHANGES:
        for issuer, other in (machines, machines[::-1]):
            if (change, issuer) == (Pair.change_password, pair.slow):
                continue
            for credential in pair.credentials:
                earlier = credential.sign_in(issuer, password)
                assert credential.is_valid(other, credential.sign_in(issuer, password))
                password = change(pair, other, password)
                if change is Pair.sign_out_everybody:
                    pair = signed_in_again(pair)
                between = credential.sign_in(other, password)
                assert credential.is_valid(issuer, credential.sign_in(other, password))
                # A second revocation directly afterwards ends what was issued after the first.
                pair.sign_out_by_admin(issuer, password)
                for machine in machines:
                    assert not credential.is_valid(machine, earlier), change.__name__
                    assert not credential.is_valid(machine, between), change.__name__
                    for signer in machines:
                        new = credential.sign_in(signer, password)
                        assert credential.is_valid(machine, new), change.__name__


def signed_in_again(pair: Pair) -> Pair:
    body = {"username": "boss@example.com", "password": PASSWORD}
    token = pair.slow.send("POST", "/login", {}, body)[1]["access_token"]
    return pair._replace(admin=bearer(token))
