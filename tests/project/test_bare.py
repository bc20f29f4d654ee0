"""The wheel alone in an environment of its own: what a host has who installs nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ..rigs.backends import missing
from ..rigs.installed import run
from ..rigs.npm import CannotRun, install
from ..rigs.servers import ROOT, bare_environment

PYRIGHT = ROOT / "tests" / "rigs" / "pyright"
# Hosts whose code stands in the documentation, with the tests that stand there too.
HOSTS = {
    "smallest": ["app.py", "test_app.py"],
    "everything": ["library", "test_library.py"],
    "saas": ["pinboard", "wsgi.py", "test_pinboard.py"],
    "concurrent": ["app.py", "test_app.py"],
    "lite": ["app.py", "test_app.py"],
}


OF_HOSTS = ("pytest", "types-flask-migrate", "flask-sqlalchemy-lite")


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """With what the hosts have beside it: their tests, their database object."""
    home = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(home, symlinks=True)
    python = str(home / "bin" / "python")
    pins = ("-c", "requirements.txt", "-c", "requirements-dev.txt")
    # Unlike pip, uv holds what it downloads against the pins' digests and lets the wheel have none.
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python]
        + [*pins, str(wheel), *OF_HOSTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        missing(f"The wheel's dependencies cannot be had: {done.stderr[-300:]}")
    return python


_JOURNEY = """
import io, json, pathlib, re
import flask_frontdesk
from flask import Flask
from flask_frontdesk import blueprints
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase

class Base(DeclarativeBase):
    pass

class Account(flask_frontdesk.AccountMixin, Base):
    pass

host = Flask("host", instance_path=str(pathlib.Path("instance").resolve()))
host.config.update(SQLALCHEMY_DATABASE_URI="sqlite:///host.db", SECRET_KEY="k" * 40)
db = SQLAlchemy(host, model_class=Base)
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.use_workspaces()
frontdesk.init_app(host, db, account_model=Account)
for name, prefix in (("auth", ""), ("profiles", "/profiles"), ("workspaces", "/workspaces"),
                     ("notifications", "/inbox"), ("docs", ""), ("health", "")):
    host.register_blueprint(getattr(blueprints, name), url_prefix="/api" + prefix)
with host.app_context():
    db.create_all()
    frontdesk.accounts.create("ada@example.com", "correct horse", phone="+49 151 1234567")
    frontdesk.notify("Welcome", "To all", channels=["inapp", "email"])
client = host.test_client()
token = client.post("/api/login", data={"username": "ada@example.com", "password": "correct horse"})
as_ada = {"Authorization": "Bearer " + token.json["access_token"]}
card = {"first_name": "Ada", "last_name": "L", "date_of_birth": "1815-12-10", "gender": "female",
        "marital_status": "married"}
picture = {"avatar": (io.BytesIO(b"GIF89a"), "me.gif")}
print(json.dumps({
    "workspaces": [each["slug"] for each in token.json["workspaces"]],
    "account": client.get("/api/account", headers=as_ada).json["phone"],
    "profile": client.post("/api/profiles", json=card, headers=as_ada).status_code,
    "inbox": client.get("/api/inbox/", headers=as_ada).json[0]["title"],
    "recovery": client.post("/api/password-recovery", json={"email": "a@example.com"}).status_code,
    "document": client.get("/api/openapi.json").status_code,
    "page": [client.get("/api/docs").status_code, client.get("/api/docs").json["detail"]],
    "avatar": client.put("/api/profiles/avatar", data=picture, headers=as_ada).json["code"],
    "logout": client.delete("/api/logout", headers=as_ada).status_code,
}))
"""

# What asks for an extra.
LACKING = {
    "redis": {"CORE__REDIS_URL": "redis://127.0.0.1:6379/0"},
    "celery": {"CORE__CELERY_BROKER_URL": "amqp://127.0.0.1//"},
    "postgresql": {"CORE__DATABASE_URL": "postgresql+psycopg://127.0.0.1/none"},
    "metrics": {"CORE__METRICS_ENABLED": "true"},
    "tracing": {"CORE__TRACING_ENABLED": "true"},
    "s3": {"PROFILES__AVATAR_STORAGE": "s3", "PROFILES__AVATAR_S3_BUCKET": "b"},
    "idp": {
        "AUTH__ENABLE_IDP_OAUTH": "true",
        "IDP_METADATA_URL": "https://idp.example",
        "IDP_OAUTH_CLIENT_ID": "us",
    },
}
_LACKING = """
import json, os, sys
import flask_frontdesk
said = {}
for extra, settings in json.loads(sys.argv[1]).items():
    os.environ.update(settings)
    try:
        flask_frontdesk.create_app()
    except Exception as error:
        said[extra] = f"{type(error).__name__} {error}"
    for name in settings:
        del os.environ[name]
print(json.dumps(said))
"""


def test_all_that_is_common_works_without_any_extra(bare: str, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(_JOURNEY)
    said = run("-W", "error::ImportWarning", "host.py", python=bare, cwd=tmp_path)
    assert json.loads(said.splitlines()[-1]) == {
        "workspaces": ["ada"],
        "account": "+491511234567",
        "profile": 200,
        "inbox": "Welcome",
        "recovery": 404,
        "document": 200,
        "page": [
            501,
            "The documentation page is not installed here: pip install 'flask-frontdesk[docs]'",
        ],
        "avatar": "avatars_unsupported",
        "logout": 200,
    }
    assert "pip install 'flask-frontdesk[avatars]'" in said


@pytest.fixture(scope="module")
def told(bare: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("lacking")
    said = run("-c", _LACKING, json.dumps(LACKING), python=bare, cwd=folder)
    found: dict[str, str] = json.loads(said.splitlines()[-1])
    return found


@pytest.mark.parametrize("extra", LACKING)
def test_what_is_missing_is_told_with_the_line_that_installs_it(
    told: dict[str, str], extra: str
) -> None:
    assert told[extra].startswith("SettingsError ")
    assert told[extra].endswith(f" needs an extra: pip install 'flask-frontdesk[{extra}]'")


@pytest.fixture(scope="module")
def known_to_mypy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one host needs, the next one need not have read again."""
    return f"--cache-dir={tmp_path_factory.mktemp('mypy')}"


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    """Outside the repository, whose configuration is not a host's."""
    for example, files in HOSTS.items():
        for file in files:
            source = ROOT / "examples" / example / file
            if source.is_dir():
                shutil.copytree(source, tmp_path / example / file)
            else:
                (tmp_path / example).mkdir(exist_ok=True)
                shutil.copy(source, tmp_path / example / file)
    return tmp_path


@pytest.mark.parametrize("example", HOSTS)
def test_mypy_finds_nothing_in_a_host(
    bare: str, hosts: Path, example: str, known_to_mypy: str
) -> None:
    options = ("--strict", "--no-error-summary", "--python-executable", bare)
    run("-m", "mypy", *options, known_to_mypy, *HOSTS[example], cwd=hosts / example)


def test_pyright_finds_nothing_in_the_hosts(bare: str, hosts: Path) -> None:
    try:
        install(PYRIGHT)
    except CannotRun as error:
        missing(str(error))
    settings = {
        "typeCheckingMode": "strict",
        "include": list(HOSTS),
        "executionEnvironments": [{"root": example} for example in HOSTS],
    }
    (hosts / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [PYRIGHT / "node_modules" / ".bin" / "pyright", "--pythonpath", bare],
        cwd=hosts,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 errors")


_REVEALED = """
from pinboard.extensions import frontdesk
from pinboard.notes import list_notes

reveal_type(frontdesk.current_account)
reveal_type(frontdesk.accounts.find("ada@example.com"))
reveal_type(list_notes)
"""


def test_a_host_is_given_its_own_account_and_decorators_keep_signatures(
    bare: str, hosts: Path, known_to_mypy: str
) -> None:
    (hosts / "saas" / "asked.py").write_text(_REVEALED)
    options = ("--strict", "--python-executable", bare, known_to_mypy)
    said = run("-m", "mypy", *options, "asked.py", cwd=hosts / "saas")
    assert '"pinboard.models.Account"' in said
    assert '"pinboard.models.Account | None"' in said
    assert "def (workspace_slug: str, query: dict[str, Any]) -> flask.wrappers.Response" in said
