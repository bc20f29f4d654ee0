"""Behavior that differs between granian and gunicorn. Tests of common behavior run on both."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..conftest import SECRET, migrate
from ..rigs.servers import GRANIAN, Server, checkout_environment, granian_server
from ..rigs.slow_clients import (
    SILENT,
    SLOW_BODY,
    SLOW_HEAD,
    dripping,
    open_slowly,
    wait_until_closed,
)
from ..rigs.traffic import Client
from .test_raw_requests import CHUNKED, CORPUS, GET, POST, SMUGGLED, TASK

# hyper accepts these; the proxy in front of granian may reject them.
ACCEPTED = {
    "a bare LF",
    "a bare LF in a field",
    "a long field",
    "a method in lower case",
    "another expectation",
}
# hyper closes the connection without a response: the request is incomplete.
NO_RESPONSE = {
    "HTTP/2 in plain",
    "empty lines",
    "a method without end",
    "a path without end",
    "half a request",
    "half a head",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("granian") / "log"


@pytest.fixture(scope="module")
def server(log: Path) -> Iterator[Server]:
    """A server with one worker and fewer threads than there are slow clients."""
    url = f"sqlite:///{log.parent / 'frontdesk.db'}"
    migrate(url)
    settings = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url, "WEB_THREADS": "8"}
    with granian_server(settings, log) as server:
        yield server


def send(server: Server, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(sent)
        return connection.makefile("rb").read()


@pytest.fixture(scope="module")
def responses(server: Server) -> dict[str, bytes]:
    """Send all requests at once, because incomplete requests last until their timeout."""
    requested = {
        name: sent for name, (sent, _) in CORPUS.items() if name != "a body that never comes"
    }

    def response(sent: bytes) -> bytes:
        try:
            return send(server, sent)
        except ConnectionResetError:
            return b""  # hyper closed the connection before the whole request was sent

    with ThreadPoolExecutor(len(requested)) as pool:
        return dict(zip(requested, pool.map(response, requested.values()), strict=True))


def test_malformed_request_is_rejected_once(responses: dict[str, bytes]) -> None:
    statuses = {
        name: [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", response)]
        for name, response in responses.items()
    }
    assert {name for name, found in statuses.items() if not found} <= NO_RESPONSE
    assert {name for name, found in statuses.items() if len(found) > 1} == set()
    rejected = [found for name, found in statuses.items() if found and name not in ACCEPTED]
    assert {found[0] // 100 for found in rejected} == {4}


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (CHUNKED + b"e\r\n" + TASK + b"\r\n0\r\n\r\n" + SMUGGLED, 411, "length_required"),
        (GET + b"Host: y\r\n\r\n" + SMUGGLED, 400, "bad_request"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
    ],
)
def test_rejected_request_gets_problem_document_and_closes_connection(
    server: Server, sent: bytes, status: int, code: str
) -> None:
    head, _, body = send(server, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nx-request-id: " in head
    assert json.loads(body)["code"] == code


def test_incomplete_body_creates_nothing(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(POST + b"Content-Length: 500\r\n\r\n" + TASK)
        connection.shutdown(socket.SHUT_WR)
        connection.makefile("rb").read()
    listed = Client(server.port).ask("GET", "/tasks/")[1]
    assert [task for task in listed if task["owner"] == "x"] == []


def test_long_request_line_is_accepted(server: Server) -> None:
    line = b"GET /api/v1/health?x=" + b"1" * 8100 + b" HTTP/1.1\r\nHost: x\r\n"
    assert send(server, line + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_oversized_body_is_rejected_before_it_is_sent(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(POST + b"Content-Length: 100000000\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_slow_clients_do_not_block_others(server: Server) -> None:
    """Clients that send a body slowly stay connected: a proxy in front must limit them."""
    silent = open_slowly(server.port, SILENT, 100) + open_slowly(server.port, SLOW_HEAD, 100)
    slow = open_slowly(server.port, SLOW_BODY, 100)
    with dripping(silent + slow):
        paths = ["/health", "/tasks/"] * 20
        assert {Client(server.port).ask("GET", path)[0] for path in paths} == {200}
        assert Client(server.port).ask("POST", "/tasks/", {"title": "x"})[0] == 201
        wait_until_closed(silent, 20)


def test_request_id_of_the_client_is_returned(server: Server) -> None:
    response = send(server, GET + b"X-Request-ID: abc-1\r\nConnection: close\r\n\r\n")
    assert b"\r\nx-request-id: abc-1\r\n" in response


def test_log_is_json_without_access_log(server: Server, log: Path) -> None:
    Client(server.port).ask("GET", "/health?x=quiet")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"_granian", "_granian.serve"} <= {line["logger"] for line in lines}
    assert "quiet" not in log.read_text()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CORE__METRICS_BIND", "127.0.0.1:9100", "CORE__METRICS_BIND needs gunicorn"),
        ("BIND", "127.0.0.1:0,127.0.0.1:0", "Invalid settings: BIND: "),
        ("BIND", "localhost", "Invalid settings: BIND: "),
        ("CORE__TYPO", "hunter2", "Invalid settings: CORE__TYPO: "),
    ],
)
def test_unsupported_setting_stops_the_start_with_one_sentence(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": f"sqlite:///{tmp_path / 'x.db'}",
        "CORE__METRICS_ENABLED": "true",
        "CORE__LOG_LEVEL": "ERROR",
        "BIND": "127.0.0.1:0",
    }
    stopped = subprocess.run(
        [sys.executable, "-m", *GRANIAN],
        env=checkout_environment(**(settings | {name: value})),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert stopped.returncode == 1
    assert (stopped.stdout + stopped.stderr).startswith(message)
    assert "hunter2" not in stopped.stderr
