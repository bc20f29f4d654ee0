"""The service under gunicorn, tested with raw bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.workers.gthread import ThreadWorker

from app.server.worker import BufferedWorker

from ..conftest import SECRET, migrate
from ..rigs.servers import GUNICORN, checkout_environment, gunicorn, send_raw

START = b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gunicorn") / "log"


@pytest.fixture(scope="module")
def port(log: Path) -> Iterator[int]:
    url = f"sqlite:///{log.parent / 'frontdesk.db'}"
    migrate(url)
    settings = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url, "WEB_CONCURRENCY": "2"}
    with gunicorn(settings, log) as port:
        yield port


def status(response: str) -> int:
    return int(response.split(" ", 2)[1])


def body(response: str) -> Any:
    return json.loads(response.partition("\r\n\r\n")[2])


@pytest.mark.parametrize(
    "chunks",
    [b"zz\r\n{}\r\n0\r\n\r\n", b"5\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n", b"ffffffff\r\n{}", b""],
)
def test_malformed_chunk_is_a_client_error(port: int, log: Path, chunks: bytes) -> None:
    response = send_raw(port, START + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    assert status(response) == 400
    assert body(response)["code"] == "unreadable_body"
    assert "Traceback" not in log.read_text()


def test_incomplete_body_is_a_client_error(port: int) -> None:
    assert status(send_raw(port, START + b'Content-Length: 500\r\n\r\n{"title": "x"')) == 400


def test_chunked_body_above_the_limit_is_too_large(port: int) -> None:
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    response = send_raw(
        port, START + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 17 + b"0\r\n\r\n"
    )
    assert status(response) == 413


def test_chunked_body_is_accepted(port: int) -> None:
    chunks = b'e\r\n{"title": "x"}\r\n0\r\n\r\n'
    assert status(send_raw(port, START + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)) == 201


def test_long_request_line_is_accepted(port: int) -> None:
    line = b"GET /api/v1/health?x=" + b"1" * 8100 + b" HTTP/1.1\r\nHost: x\r\n"
    assert status(send_raw(port, line + b"Connection: close\r\n\r\n")) == 200


@pytest.mark.parametrize("host", [b"", b"evil.example", b"a b", b"[::1", b"\xff", b"x" * 300])
def test_malformed_host_header_causes_no_server_error(port: int, host: bytes) -> None:
    response = send_raw(
        port, b"GET /api/v1/docs HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
    )
    assert status(response) < 500
    assert "evil.example" not in response


def test_workers_lose_no_concurrent_writes(port: int) -> None:
    def create(number: int) -> int:
        sent = json.dumps({"title": str(number)}).encode()
        head = START + b"X-Owner: busy\r\nConnection: close\r\n"
        return status(send_raw(port, head + f"Content-Length: {len(sent)}\r\n\r\n".encode() + sent))

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(create, range(60))) == {201}
    path = b"GET /api/v1/tasks/?limit=500 HTTP/1.1\r\nHost: x\r\n"
    listed = body(send_raw(port, path + b"X-Owner: busy\r\nConnection: close\r\n\r\n"))
    assert len({task["id"] for task in listed}) == 60


def test_log_is_json_without_access_log(port: int, log: Path) -> None:
    send_raw(port, b"GET /api/v1/health?x=quiet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    lines = log.read_text().splitlines()
    assert all("message" in json.loads(line) for line in lines)
    assert any("Starting gunicorn" in line for line in lines)
    assert "quiet" not in log.read_text()


@pytest.mark.parametrize(
    "command",
    [
        [*GUNICORN, "wsgi:app"],
        ["flask", "--app", "wsgi", "run"],
        ["flask", "--app", "wsgi", "db", "upgrade"],
    ],
)
@pytest.mark.parametrize("variable", ["CORE__TYPO", "MAIL_PORT", "CORE__DATABASE_URL"])
def test_invalid_setting_stops_the_start_with_one_sentence(
    command: list[str], variable: str
) -> None:
    environment = checkout_environment(**{variable: "hunter2"}, BIND="127.0.0.1:0")
    stopped = subprocess.run(
        [sys.executable, "-m", *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = (stopped.stdout + stopped.stderr).strip()
    assert stopped.returncode == 1
    assert output.startswith(f"Invalid settings: {variable}: ")
    assert output.count(os.linesep) == 0
    assert "hunter2" not in output


def test_worker_reads_gunicorn_settings_as_plain_attributes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ThreadWorker, "init_process", lambda _self: None)
    worker: Any = object.__new__(BufferedWorker)
    worker.cfg = Config()
    worker.cfg.set("keepalive", 7)
    worker.init_process()
    monkeypatch.delattr(Config, "__getattr__")
    assert (worker.cfg.keepalive, worker.cfg.limit_request_fields) == (7, 100)
