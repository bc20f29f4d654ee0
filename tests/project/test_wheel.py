"""The wheel, installed in a folder without this repository."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

from ..rigs.installed import run
from ..rigs.servers import ROOT

_HOST = """
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import Mapped

import app as own
import flask_frontdesk
from flask_frontdesk import blueprints
from flask_frontdesk.core.process.folders import migrations_folder, templates_folder

assert own.NAME == "the host's own"
assert "site-packages" in flask_frontdesk.__file__
assert "site-packages" in str(migrations_folder()) and "site-packages" in str(templates_folder())

host = Flask("host")
host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
db = SQLAlchemy(host)
frontdesk = flask_frontdesk.Frontdesk()
frontdesk.init_app(host, db)
host.register_blueprint(blueprints.health, url_prefix="/desk")
host.register_blueprint(blueprints.tasks, url_prefix="/desk/tasks")
with host.app_context():
    db.create_all()
client = host.test_client()
print(client.get("/desk/health").get_json()["status"])
print(client.post("/desk/tasks/", json={"title": "x"}).status_code)
"""


def test_wheel_contains_migrations_and_templates(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "flask_frontdesk"
    }
    for kind in ("migrations", "templates"):
        expected = {
            path for path in (ROOT / kind).rglob("*") if path.suffix in (".py", ".html", ".txt")
        }
        assert expected
        assert {f"flask_frontdesk/{path.relative_to(ROOT)}" for path in expected} <= names
    catalogs = (ROOT / "app").rglob("*.po")
    assert {f"flask_frontdesk/{path.relative_to(ROOT / 'app')}" for path in catalogs} <= names
    assert "flask_frontdesk/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith(".dist-info/sboms/frontdesk.cdx.json") for name in names)


def test_application_can_have_a_module_named_app(python: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text('NAME = "the host\'s own"\n')
    (tmp_path / "host.py").write_text(_HOST)
    output = run("host.py", python=python, cwd=tmp_path).splitlines()
    assert output[-2:] == ["ok", "201"]


def test_installed_service_runs_and_migrates(python: str, tmp_path: Path) -> None:
    os.mkdir(tmp_path / "empty")
    (tmp_path / "empty" / "service.py").write_text(
        "import flask_frontdesk\napp = flask_frontdesk.create_app()\n"
        "print(app.test_cli_runner().invoke(args=['db', 'upgrade']).exit_code)\n"
        "print(app.test_client().get('/api/v1/tasks/').status_code)\n"
    )
    output = run("service.py", python=python, cwd=tmp_path / "empty").splitlines()
    assert output[-2:] == ["0", "200"]


@pytest.mark.parametrize("application", ["", 'import os\nos.environ["SETTING"]\n'])
def test_key_is_generated_without_an_application_that_loads(
    python: str, tmp_path: Path, application: str
) -> None:
    if application:
        (tmp_path / "app.py").write_text(application)
    output = run("-m", "flask", "frontdesk", "generate-key", python=python, cwd=tmp_path)
    assert re.fullmatch(r"[\w-]{64}\n", output)


def test_imports_inside_the_package_are_relative() -> None:
    """The installed package has another name."""
    absolute = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "app").rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.lstrip().startswith(("from app", "import app"))
    ]
    assert absolute == []
