"""What a client sends reaches the application as headers, and never as its environment."""

from __future__ import annotations

import os
import runpy
import socket
from collections.abc import Iterator

import pytest

from ..conftest import SECRET, migrate
from ..rigs.servers import ROOT, SERVERS


@pytest.fixture(scope="module", params=SERVERS)
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("environment")
    url = f"sqlite:///{folder / 'frontdesk.db'}"
    migrate(url)
    settings = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url, "CORE__METRICS_ENABLED": "true"}
    with SERVERS[request.param](settings, folder / "log") as server:
        yield server.port


def ask(port: int, path: str, header: str = "X-A: a") -> str:
    sent = f"GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(sent.encode())
        return connection.makefile("rb").read().decode("latin-1")


@pytest.mark.parametrize("header", ["SCRIPT_NAME: /zzz", "Script-Name: /zzz", "PATH_INFO: /zzz"])
def test_no_header_says_where_the_application_is(port: int, header: str) -> None:
    assert ask(port, "/api/v1/health", header).startswith("HTTP/1.1 200 ")


def test_no_header_leads_past_a_proxys_rule_about_a_path(port: int) -> None:
    assert ask(port, "/zzz/metrics", "SCRIPT_NAME: /zzz").startswith("HTTP/1.1 404 ")


@pytest.mark.parametrize("path", ["//metrics", "///metrics", "//api//v1/health"])
def test_a_path_with_more_slashes_is_another_path(port: int, path: str) -> None:
    assert ask(port, path).startswith("HTTP/1.1 404 ")


@pytest.mark.parametrize("header", ["X-Forwarded-Proto: https", "X-Forwarded-Ssl: on"])
def test_nobody_is_believed_about_the_scheme_unasked(port: int, header: str) -> None:
    assert "strict-transport-security" not in ask(port, "/api/v1/health", header).lower()


def test_where_shared_memory_cannot_be_written_nothing_is_put_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "unused")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "worker_tmp_dir" not in runpy.run_path(str(ROOT / "gunicorn.conf.py"))
