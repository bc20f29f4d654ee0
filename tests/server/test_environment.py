"""Request headers reach the application as headers and never as WSGI environment variables."""

from __future__ import annotations

import os
import runpy
import socket
from collections.abc import Iterator

import pytest

from ..conftest import SECRET, migrate
from ..rigs.servers import ROOT, gunicorn


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("environment")
    url = f"sqlite:///{folder / 'frontdesk.db'}"
    migrate(url)
    settings = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url, "CORE__METRICS_ENABLED": "true"}
    with gunicorn(settings, folder / "log") as port:
        yield port


def ask(port: int, path: str, header: str = "X-A: a") -> str:
    sent = f"GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(sent.encode())
        return connection.makefile("rb").read().decode("latin-1")


@pytest.mark.parametrize("header", ["SCRIPT_NAME: /zzz", "Script-Name: /zzz", "PATH_INFO: /zzz"])
def test_header_cannot_set_script_name(port: int, header: str) -> None:
    assert ask(port, "/api/v1/health", header).startswith("HTTP/1.1 200 ")


def test_header_cannot_bypass_a_proxy_rule_for_a_path(port: int) -> None:
    assert ask(port, "/zzz/metrics", "SCRIPT_NAME: /zzz").startswith("HTTP/1.1 404 ")


@pytest.mark.parametrize("path", ["//metrics", "///metrics", "//api//v1/health"])
def test_path_with_extra_slashes_is_not_found(port: int, path: str) -> None:
    assert ask(port, path).startswith("HTTP/1.1 404 ")


@pytest.mark.parametrize("header", ["X-Forwarded-Proto: https", "X-Forwarded-Ssl: on"])
def test_forwarded_scheme_is_ignored_without_trusted_proxies(port: int, header: str) -> None:
    assert "strict-transport-security" not in ask(port, "/api/v1/health", header).lower()


def test_unwritable_shared_memory_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "unused")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "worker_tmp_dir" not in runpy.run_path(str(ROOT / "gunicorn.conf.py"))
