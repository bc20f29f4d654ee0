"""What deploy/monitoring/ has for Prometheus and Grafana: taken, and asking for what is told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, only_on
from ..rigs.backends import missing
from ..rigs.servers import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
NAMED = re.compile(r"\b(frontdesk_\w+)(?:\{([^}]*)\})?")


def promtool(*words: object) -> None:
    if shutil.which("promtool") is None:
        missing("promtool is not installed")
    command = ["promtool", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def panels() -> Iterator[tuple[str, str]]:
    """Title and question of each panel."""
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])


def questions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    yield from (question for _, question in panels())


def test_prometheus_takes_its_settings_and_the_alarms() -> None:
    promtool("check", "config", FOLDER / "prometheus.yaml")


def test_every_alarm_rings_when_it_should_and_keeps_quiet_otherwise() -> None:
    cases = Path(__file__).with_name("alerts.yaml")
    tried = set(re.findall(r"alertname: (\w+)", cases.read_text()))
    assert tried == {rule["alert"] for rule in RULES}
    promtool("test", "rules", cases)


def test_prometheus_understands_every_question_of_the_dashboard(tmp_path: Path) -> None:
    asked = [question.replace("$__rate_interval", "1m") for _, question in panels()]
    rules = [{"record": f"panel_{n}", "expr": question} for n, question in enumerate(asked)]
    assert rules
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", file)


def test_the_panels_lie_beside_each_other_and_ask_the_chosen_source() -> None:
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
def test_what_alarms_and_panels_ask_for_is_told(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(CORE__METRICS_ENABLED="true", CORE__EMAILS_ENABLED="false")
    boss = person("boss", into=app, role="admin").api()
    data: dict[str, Any] = {"title": "x", "message": "y", "channels": ["inapp", "email"]}
    boss.post("/admin/notifications/", 201, json={"data": data})
    Api(app).get("/health")
    told: dict[str, set[str]] = {}
    for name, labels in NAMED.findall(app.test_client().get("/metrics").get_data(as_text=True)):
        told.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    for question in questions():
        for name, labels in NAMED.findall(question):
            asked = set(re.findall(r"(\w+)[=!]~?\"", labels)) - {"instance"}
            assert name in told, question
            assert asked <= told[name], question


@only_on("postgresql")
def test_the_pools_limit_is_told(make_app: MakeApp) -> None:
    app = make_app(CORE__METRICS_ENABLED="true", CORE__DATABASE_POOL_SIZE="7")
    Api(app).get("/tasks/")
    assert 'frontdesk_pool_connections{state="limit"} 7.0' in str(
        app.test_client().get("/metrics").get_data(as_text=True)
    )


def test_every_alarm_is_explained() -> None:
    told = (ROOT / "docs" / "monitoring.md").read_text()
    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in told] == []
