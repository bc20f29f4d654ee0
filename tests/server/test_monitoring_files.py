"""deploy/monitoring/ for Prometheus and Grafana: valid, and based on metrics that the service
exports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.core.replica import Replica
from app.testing.client import Api

from ..conftest import Backend, MakeApp, MakePerson, only_on
from ..rigs.backends import missing
from ..rigs.servers import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
METRIC = re.compile(r"\b(frontdesk_\w+)(?:\{([^}]*)\})?")


def promtool(*words: object) -> None:
    if shutil.which("promtool") is None:
        missing("promtool is not installed")
    command = ["promtool", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def panels() -> Iterator[tuple[str, str]]:
    """Return the title and the query of each panel."""
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])


def queries() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    yield from (query for _, query in panels())


def test_prometheus_accepts_its_configuration_and_the_alerts() -> None:
    promtool("check", "config", FOLDER / "prometheus.yaml")


def test_every_alert_fires_only_in_its_cases() -> None:
    cases = Path(__file__).with_name("alerts.yaml")
    tried = set(re.findall(r"alertname: (\w+)", cases.read_text()))
    assert tried == {rule["alert"] for rule in RULES}
    promtool("test", "rules", cases)


def test_prometheus_accepts_every_query_of_the_dashboard(tmp_path: Path) -> None:
    requested = [query.replace("$__rate_interval", "1m") for _, query in panels()]
    rules = [{"record": f"panel_{n}", "expr": query} for n, query in enumerate(requested)]
    assert rules
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", file)


def test_panels_do_not_overlap_and_use_the_selected_data_source() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place: dict[str, int] = panel["gridPos"]
        columns = range(place["x"], place["x"] + place["w"])
        cells = {(x, y) for x in columns for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, panel["title"]
        assert columns.stop <= 24
        taken |= cells
        assert panel["datasource"]["uid"] == "${source}"


@only_on("postgresql")
def test_service_exports_every_metric_of_alerts_and_panels(
    make_app: MakeApp, person: MakePerson, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replica, "lag", lambda self: 1.0)
    app = make_app(
        CORE__METRICS_ENABLED="true",
        CORE__EMAILS_ENABLED="false",
        # The server is no standby, so lists are read from the primary.
        CORE__DATABASE_READ_URL=backend.database_url,
    )
    boss = person("boss", into=app, role="admin").api()
    data: dict[str, Any] = {"title": "x", "message": "y", "channels": ["inapp", "email"]}
    boss.post("/admin/notifications/", 201, json={"data": data})
    boss.get("/notifications/")
    Api(app).get("/health")
    exported: dict[str, set[str]] = {}
    for name, labels in METRIC.findall(app.test_client().get("/metrics").get_data(as_text=True)):
        exported.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    for query in queries():
        for name, labels in METRIC.findall(query):
            requested = set(re.findall(r"(\w+)[=!]~?\"", labels)) - {"instance"}
            assert name in exported, query
            assert requested <= exported[name], query


@only_on("postgresql")
def test_pool_size_is_exported(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true", CORE__DATABASE_POOL_SIZE="7")
    Api(app).get("/tasks/")
    assert 'frontdesk_pool_connections{state="limit"} 7.0' in str(
        app.test_client().get("/metrics").get_data(as_text=True)
    )


def test_every_alert_is_documented() -> None:
    exported = (ROOT / "docs" / "monitoring.md").read_text()
    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in exported] == []
