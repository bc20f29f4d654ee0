"""What is otherwise on granian than on gunicorn; for the same promises, tests take both."""

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

# hyper takes these for requests, or for ones that may be mended; a proxy in front may not.
TAKEN = {
    "a bare LF",
    "a bare LF in a field",
    "a long field",
    "a method in lower case",
    "another expectation",
}
# Nothing else of them is to come, and the connection is closed without a word.
UNANSWERED = {
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
    """One worker, with fewer turns than the clients that are slow."""
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
def answers(server: Server) -> dict[str, bytes]:
    """All at once, since those that are never whole take their time."""
    asked = {name: sent for name, (sent, _) in CORPUS.items() if name != "a body that never comes"}

    def answer(sent: bytes) -> bytes:
        try:
            return send(server, sent)
        except ConnectionResetError:
            return b""  # closed while the rest of what is refused was still coming in

    with ThreadPoolExecutor(len(asked)) as pool:
        return dict(zip(asked, pool.map(answer, asked.values()), strict=True))


def test_what_is_no_request_is_refused_once(answers: dict[str, bytes]) -> None:
    statuses = {
        name: [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", answer)]
        for name, answer in answers.items()
    }
    assert {name for name, found in statuses.items() if not found} <= UNANSWERED
    assert {name for name, found in statuses.items() if len(found) > 1} == set()
    refused = [found for name, found in statuses.items() if found and name not in TAKEN]
    assert {found[0] // 100 for found in refused} == {4}


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (CHUNKED + b"e\r\n" + TASK + b"\r\n0\r\n\r\n" + SMUGGLED, 411, "length_required"),
        (GET + b"Host: y\r\n\r\n" + SMUGGLED, 400, "bad_request"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
    ],
)
def test_what_the_gate_refuses_is_a_problem_and_ends_the_connection(
    server: Server, sent: bytes, status: int, code: str
) -> None:
    head, _, body = send(server, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nx-request-id: " in head
    assert json.loads(body)["code"] == code


def test_a_body_that_ends_early_is_the_senders_fault(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(POST + b"Content-Length: 500\r\n\r\n" + TASK)
        connection.shutdown(socket.SHUT_WR)
        connection.makefile("rb").read()
    listed = Client(server.port).ask("GET", "/tasks/")[1]
    assert [task for task in listed if task["owner"] == "x"] == []


def test_a_long_request_line_is_taken(server: Server) -> None:
    line = b"GET /api/v1/health?x=" + b"1" * 8100 + b" HTTP/1.1\r\nHost: x\r\n"
    assert send(server, line + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_a_body_that_is_too_large_is_refused_before_it_comes(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(POST + b"Content-Length: 100000000\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_slow_clients_hold_up_nobody(server: Server) -> None:
    """Those that are slow with a body are not closed, which takes a proxy in front."""
    silent = open_slowly(server.port, SILENT, 100) + open_slowly(server.port, SLOW_HEAD, 100)
    slow = open_slowly(server.port, SLOW_BODY, 100)
    with dripping(silent + slow):
        paths = ["/health", "/tasks/"] * 20
        assert {Client(server.port).ask("GET", path)[0] for path in paths} == {200}
        assert Client(server.port).ask("POST", "/tasks/", {"title": "x"})[0] == 201
        wait_until_closed(silent, 20)


def test_the_caller_s_request_id_is_answered(server: Server) -> None:
    answer = send(server, GET + b"X-Request-ID: abc-1\r\nConnection: close\r\n\r\n")
    assert b"\r\nx-request-id: abc-1\r\n" in answer


def test_the_log_is_json_and_has_no_line_for_each_request(server: Server, log: Path) -> None:
    Client(server.port).ask("GET", "/health?x=quiet")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"_granian", "_granian.serve"} <= {line["logger"] for line in lines}
    assert "quiet" not in log.read_text()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CORE__METRICS_BIND", "127.0.0.1:9100", "CORE__METRICS_BIND needs gunicorn"),
        ("BIND", "127.0.0.1:0,127.0.0.1:0", "Wrong settings: BIND: "),
        ("BIND", "localhost", "Wrong settings: BIND: "),
        ("CORE__TYPO", "hunter2", "Wrong settings: CORE__TYPO: "),
    ],
)
def test_what_it_cannot_do_stops_the_start_with_one_sentence(
    tmp_path: Path, name: str, value: str, said: str
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
    assert (stopped.stdout + stopped.stderr).startswith(said)
    assert "hunter2" not in stopped.stderr
