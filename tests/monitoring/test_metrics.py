"""Metrics: off by default, and correct over several processes."""

from __future__ import annotations

import http.client
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import SECRET, MakeApp, MakePerson, migrate
from ..rigs.servers import checkout_environment, gunicorn
from ..rigs.traffic import Client


def samples(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def read(app: Flask) -> dict[str, float]:
    response = app.test_client().get("/metrics")
    assert response.status_code == 200
    return samples(response.get_data(as_text=True))


def test_metrics_are_off_by_default(app: Flask) -> None:
    assert app.test_client().get("/metrics").status_code == 404


def test_requests_are_counted_by_route_and_status(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true")
    name = (
        'frontdesk_requests_total{method="GET",route="/api/v1/tasks/<row_id:task_id>",status="%s"}'
    )
    before = read(app)
    Api(app).get("/tasks/4711", 404)
    Api(app).get("/tasks/4712", 404)
    after = read(app)
    assert after[name % 404] - before.get(name % 404, 0) == 2
    assert not [line for line in after if "4711" in line]


def test_unknown_paths_and_methods_create_no_series(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true")
    app.test_client().get("/made/up")
    app.test_client().open("/api/v1/health", method="BREW")
    found = read(app)
    assert not [line for line in found if "made" in line or "BREW" in line]
    assert [line for line in found if 'method="other"' in line]
    assert [line for line in found if 'route="unmatched"' in line]


def test_logins_are_counted_by_outcome(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(CORE__METRICS_ENABLED="true")
    ada = person(into=app)
    name = 'frontdesk_logins_total{outcome="%s",way="password"}'
    before = read(app)
    ada.token()
    Api(app).post("/login", 400, data={"username": ada.email, "password": "wrong"})
    after = read(app)
    for outcome in ("succeeded", "incorrect_credentials"):
        assert after[name % outcome] - before.get(name % outcome, 0) == 1


def test_metrics_have_the_pool_connections(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true")
    Api(app).get("/tasks/")
    found = read(app)
    assert found['frontdesk_pool_connections{state="open"}'] >= 1
    assert found['frontdesk_pool_connections{state="in_use"}'] >= 0


def test_metrics_have_the_queued_deliveries(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(CORE__METRICS_ENABLED="true", CORE__EMAILS_ENABLED="false")
    boss = person("boss", into=app, role="admin").api()
    data = {"title": "x", "message": "y", "channels": ["inapp", "email"]}
    boss.post("/admin/notifications/", 201, json={"data": data})
    found = read(app)
    assert sum(value for name, value in found.items() if "frontdesk_deliveries" in name) == 1
    assert "frontdesk_queue_age_seconds" in found


def test_each_worker_returns_the_sums_of_all(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__METRICS_ENABLED": "true",
        "WEB_CONCURRENCY": "2",
    }
    with gunicorn(settings, tmp_path / "log") as port:
        for _ in range(30):
            assert Client(port).ask("GET", "/tasks/")[0] == 200
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/metrics")
        found = samples(connection.getresponse().read().decode())
    name = 'frontdesk_requests_total{method="GET",route="/api/v1/tasks/",status="200"}'
    assert found[name] == 30


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_prometheus_client_is_imported_only_with_metrics(tmp_path: Path, enabled: str) -> None:
    code = "import app, sys; app.create_app(); print('prometheus_client' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=checkout_environment(
            SECRET_KEY=SECRET,
            CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'x.db'}",
            CORE__METRICS_ENABLED=enabled,
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(enabled == "true")


def test_missing_package_is_named_in_one_sentence(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.core.config.environment import SettingsError

    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(SettingsError, match=r"pip install 'flask-frontdesk\[tracing\]'"):
        make_app(CORE__TRACING_ENABLED="true")
