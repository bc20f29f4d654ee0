"""Metrics at a separate address, which serves nothing else, and no metrics at other addresses."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.config.environment import SettingsError

from ..conftest import SECRET, MakeApp, migrate
from ..rigs.backends import free_port
from ..rigs.servers import gunicorn

Ask = Callable[[str], tuple[int, str]]


@pytest.fixture(params=["port", "socket"])
def bind(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "port":
        return f"127.0.0.1:{free_port()}"
    return f"unix:{tmp_path / 'metrics'}"


@pytest.fixture
def service(bind: str, tmp_path: Path) -> Iterator[Ask]:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate(url)
    counted = tmp_path / "counted"
    counted.mkdir()
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__METRICS_ENABLED": "true",
        "CORE__METRICS_BIND": bind,
        "WEB_CONCURRENCY": "2",
        "PROMETHEUS_MULTIPROC_DIR": str(counted),
    }
    with gunicorn(settings, tmp_path / "log") as port:
        # A worker responds only after gunicorn listens at every address, also at the metrics
        # address.
        assert ask(f"127.0.0.1:{port}", "/nowhere")[0] == 404
        yield lambda path: ask(f"127.0.0.1:{port}", path)


def ask(address: str, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("x", timeout=10)
    if address.startswith("unix:"):
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(address.removeprefix("unix:"))
    else:
        name, _, port = address.partition(":")
        connection.sock = socket.create_connection((name, int(port)))
    connection.request("GET", path, headers={"Host": "x"})
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_separate_address_has_the_metrics_of_all_workers(
    service: Ask, bind: str, tmp_path: Path
) -> None:
    for _ in range(20):
        assert service("/api/v1/health")[0] == 200
    assert service("/metrics")[0] == 404
    # A worker that starts creates its files empty.
    (tmp_path / "counted" / "counter_1.db").touch()
    status, text = ask(bind, "/metrics")
    assert status == 200
    counted = 'frontdesk_requests_total{method="GET",route="/api/v1/health",status="200"} 20.0'
    assert counted in text


def test_separate_address_serves_only_metrics(service: Ask, bind: str) -> None:
    for path in ["/api/v1/health", "/", "/nowhere"] * 5:
        status, body = ask(bind, path)
        assert status == 404
        assert json.loads(body)["code"] == "not_found"


def test_other_servers_serve_no_metrics_with_a_separate_address(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true", CORE__METRICS_BIND="127.0.0.1:9100")
    assert app.test_client().get("/metrics").status_code == 404


@pytest.mark.parametrize("bind", ["9100", "unix:metrics", "127.0.0.1:", "http://x:1"])
def test_invalid_metrics_address_stops_the_start(make_app: MakeApp, bind: str) -> None:
    with pytest.raises(SettingsError, match="CORE__METRICS_BIND: must be host:port"):
        make_app(CORE__METRICS_BIND=bind)
