"""Clients that send or read slowly, against a worker with few threads."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.server.request_buffer import BufferedSocket

from ..conftest import SECRET, migrate
from ..rigs.servers import Server, gunicorn_server
from ..rigs.slow_clients import (
    SILENT,
    SLOW_BODY,
    SLOW_CHUNKS,
    SLOW_HEAD,
    SlowClient,
    dripping,
    open_slowly,
    wait_until_closed,
)
from ..rigs.traffic import Client

JSON = b"Content-Type: application/json\r\n"
POST = b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nX-Owner: x\r\n" + JSON
GET = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
TASK = b'{"title": "x"}'


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    url = f"sqlite:///{tmp_path_factory.mktemp('slow') / 'frontdesk.db'}"
    migrate(url)
    return {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url, "WEB_THREADS": "8"}


@pytest.fixture(scope="module")
def server(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with gunicorn_server(settings, tmp_path_factory.mktemp("slow") / "log") as server:
        yield server


def ask_many(server: Server) -> set[int]:
    """Return the statuses of other clients' requests, each over its own connection."""
    return {Client(server.port).ask("GET", path)[0] for path in ["/health", "/tasks/"] * 20}


def send_steadily(server: Server) -> bytes:
    """Send for longer than the timeout of a header, but above the minimum rate."""
    body = TASK.ljust(30_000)
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body))
        for start in range(0, len(body), 6000):
            time.sleep(2.5)
            connection.sendall(body[start : start + 6000])
        return connection.recv(65536)


@dataclass
class SlowTraffic:
    others: set[int]
    steady: bytes
    silent: list[SlowClient]
    slow: list[SlowClient]


@pytest.fixture(scope="module")
def slow_traffic(server: Server) -> SlowTraffic:
    silent = open_slowly(server.port, SILENT, 200)
    slow = open_slowly(server.port, SLOW_HEAD, 200)
    slow += open_slowly(server.port, SLOW_BODY, 100) + open_slowly(server.port, SLOW_CHUNKS, 100)
    with dripping(silent + slow), ThreadPoolExecutor(1) as pool:
        steady = pool.submit(send_steadily, server)
        others = ask_many(server)
        wait_until_closed(silent + slow, 60)
        return SlowTraffic(others, steady.result(), silent, slow)


def test_other_clients_are_served(slow_traffic: SlowTraffic) -> None:
    assert slow_traffic.others == {200}


def test_silent_connections_are_closed(slow_traffic: SlowTraffic) -> None:
    assert {client.received for client in slow_traffic.silent} == {b""}


def test_slow_requests_get_408(slow_traffic: SlowTraffic) -> None:
    for client in slow_traffic.slow:
        head, _, body = client.received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert json.loads(body)["code"] == "request_timeout"


def test_steady_slow_body_is_accepted(slow_traffic: SlowTraffic) -> None:
    assert slow_traffic.steady.startswith(b"HTTP/1.1 201 ")


def ask_without_reading(server: Server) -> socket.socket:
    """Request more than the socket buffers can hold, and read nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    return connection


def test_clients_that_do_not_read_do_not_block_others(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(ask_without_reading(server))
        assert ask_many(server) == {200}


def test_late_reader_gets_every_response(server: Server) -> None:
    with ask_without_reading(server) as connection:
        connection.shutdown(socket.SHUT_WR)
        time.sleep(1)
        received = connection.makefile("rb").read()
    responses = received.split(b"HTTP/1.1 200 OK\r\n")[1:]
    bodies = [json.loads(response.partition(b"\r\n\r\n")[2]) for response in responses]
    assert [body["openapi"] for body in bodies] == ["3.1.0"] * 100


def test_pipelined_requests_get_responses_in_order(server: Server) -> None:
    create = POST + b"Content-Length: %d\r\n\r\n%s" % (len(TASK), TASK)
    chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(TASK), TASK)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(create + GET + chunked + GET[:20])
        time.sleep(0.5)
        connection.sendall(GET[20:])
        connection.shutdown(socket.SHUT_WR)
        received = connection.makefile("rb").read()
    assert re.findall(rb"HTTP/1\.1 (\d+) ", received) == [b"201", b"200", b"201", b"200"]


def test_client_that_expects_100_gets_100_continue_once(server: Server) -> None:
    head = POST + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 14\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(TASK)
        assert connection.makefile("rb").read().startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"])
def test_oversized_body_is_rejected_immediately(server: Server, expect: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(POST + expect + b"Content-Length: 100000000\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_connection_stays_open_after_a_rejected_body(server: Server) -> None:
    """A proxy sends its next request over the same connection."""
    unwanted = b"PUT /api/v1/profiles/avatar HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(unwanted.ljust(len(unwanted) + 5_000_000, b"x") + GET)
        connection.shutdown(socket.SHUT_WR)
        received = connection.makefile("rb").read()
    assert re.findall(rb"HTTP/1\.1 (\d+) ", received) == [b"401", b"200"]


@pytest.mark.parametrize("framing", [b"Content-Length: 7000000", b"Transfer-Encoding: chunked"])
def test_oversized_body_closes_the_connection(server: Server, framing: bytes) -> None:
    head = b"PUT /api/v1/profiles/avatar HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head + b"6acfc0\r\n" + b"x" * 6_500_000)
        response = connection.makefile("rb").read()
    assert response.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nConnection: close\r\n" in response


def test_full_worker_closes_the_connection_nearest_to_its_timeout(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with gunicorn_server(settings, tmp_path / "log", "--worker-connections", "50") as server:
        silent = open_slowly(server.port, SILENT, 200)
        with dripping(silent):
            assert ask_many(server) == {200}


def test_stop_does_not_wait_for_silent_connections(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with gunicorn_server(settings, tmp_path / "log", "--graceful-timeout", "8") as server:
        silent = open_slowly(server.port, SILENT, 20)
        with dripping(silent):
            time.sleep(0.5)
            server.send(signal.SIGTERM)
            wait_until_closed(silent, 7)
        assert server.process.wait(timeout=7) == 0


def test_long_body_is_passed_to_gunicorn_in_parts() -> None:
    """gunicorn copies the unused rest of what it has read at each step."""
    server_end, client_end = socket.socketpair()
    with server_end, client_end:
        connection = BufferedSocket(server_end, 1.0)
        connection.request.add(b"x" * 5_000_000)
        parts = [len(connection.recv(1024 * 1024)) for _ in range(77)]
    assert sum(parts) == 5_000_000
    assert max(parts) == 64 * 1024
