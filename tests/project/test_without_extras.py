"""The wheel without extras in a new environment: features that need an extra, and the types of the
examples."""

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
# Example applications that the documentation quotes, with their tests.
EXAMPLES = {
    "quickstart": ["app.py", "test_app.py"],
    "everything": ["pinboard", "test_pinboard.py"],
    "tutorial": ["pinboard", "wsgi.py", "test_pinboard.py"],
    "async_views": ["app.py", "test_app.py"],
    "sqlalchemy_lite": ["app.py", "test_app.py"],
}
TYPED_EXAMPLES = {
    **EXAMPLES,
    "server_rendered": ["app.py", "test_app.py"],
    "console_pages": ["app.py", "test_app.py"],
    "separate_history": ["app.py", "after.py", "remove.py"],
    "import_users": ["accounts.py", "auth0.py", "cognito.py", "firebase.py", "keycloak.py"],
    "inbox": ["app.py", "test_app.py"],
    "move_users": ["before.py", "after.py", "test_move_users.py"],
    "cookie_pages": ["app.py", "test_app.py"],
    "subdomains": ["app.py", "test_app.py"],
    "trusted_proxy": ["app.py", "test_app.py"],
    "programs": ["app.py", "find_tokens.py", "send_broadcast.py", "test_app.py"],
    "verify_tokens": ["accounts.py", "orders.py", "test_orders.py"],
}
# Examples that import packages without types, and those without Python.
NOT_IN_PYTHON = {"react", "refresh_tokens"}
UNTYPED_EXAMPLES = {"flask_login_pages", "column_mapping", "existing_users"} | NOT_IN_PYTHON


EXAMPLE_PACKAGES = ("pytest", "types-flask-migrate", "flask-sqlalchemy-lite")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment with the wheel and the packages that the examples' tests import."""
    home = tmp_path_factory.mktemp("python") / "venv"
    venv.create(home, symlinks=True)
    python = str(home / "bin" / "python")
    pins = ("-c", "requirements.txt", "-c", "requirements-dev.txt")
    # uv checks downloads against the pinned digests and, unlike pip, accepts the wheel without one.
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python]
        + [*pins, str(wheel), *EXAMPLE_PACKAGES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        missing(f"The wheel's dependencies cannot be installed: {done.stderr[-300:]}")
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

# Settings that need an extra.
MISSING_EXTRAS = {
    "redis": {"CORE__REDIS_URL": "redis://127.0.0.1:6379/0"},
    "celery": {"CORE__CELERY_BROKER_URL": "amqp://127.0.0.1//"},
    "postgresql": {"CORE__DATABASE_URL": "postgresql+psycopg://127.0.0.1/none"},
    "metrics": {"CORE__METRICS_ENABLED": "true"},
    "tracing": {"CORE__TRACING_ENABLED": "true"},
    "s3": {"PROFILES__AVATAR_STORAGE": "s3", "PROFILES__AVATAR_S3_BUCKET": "b"},
    "keys": {"AUTH__SIGNING_KEYS": "keys.json"},
    "idp": {
        "AUTH__ENABLE_IDP_OAUTH": "true",
        "IDP_METADATA_URL": "https://idp.example",
        "IDP_OAUTH_CLIENT_ID": "us",
    },
}
_COLLECT_ERRORS = """
import json, os, sys
import flask_frontdesk
errors = {}
for extra, settings in json.loads(sys.argv[1]).items():
    os.environ.update(settings)
    try:
        flask_frontdesk.create_app()
    except Exception as error:
        errors[extra] = f"{type(error).__name__} {error}"
    for name in settings:
        del os.environ[name]
print(json.dumps(errors))
"""


def test_common_features_work_without_extras(python: str, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(_JOURNEY)
    output = run("-W", "error::ImportWarning", "host.py", python=python, cwd=tmp_path)
    assert json.loads(output.splitlines()[-1]) == {
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
    assert "pip install 'flask-frontdesk[avatars]'" in output


@pytest.fixture(scope="module")
def errors(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("extras")
    output = run("-c", _COLLECT_ERRORS, json.dumps(MISSING_EXTRAS), python=python, cwd=folder)
    found: dict[str, str] = json.loads(output.splitlines()[-1])
    return found


@pytest.mark.parametrize("extra", MISSING_EXTRAS)
def test_missing_extra_is_named_with_its_install_command(
    errors: dict[str, str], extra: str
) -> None:
    assert errors[extra].startswith("SettingsError ")
    assert errors[extra].endswith(f" needs an extra: pip install 'flask-frontdesk[{extra}]'")


@pytest.fixture(scope="module")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cache shared by the mypy runs, so that each dependency is checked once."""
    return f"--cache-dir={tmp_path_factory.mktemp('mypy')}"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Copy the examples out of the repository, so that its configuration does not apply."""
    for example, files in TYPED_EXAMPLES.items():
        for file in files:
            source = ROOT / "examples" / example / file
            if source.is_dir():
                shutil.copytree(source, tmp_path / example / file)
            else:
                (tmp_path / example).mkdir(exist_ok=True)
                shutil.copy(source, tmp_path / example / file)
    return tmp_path


def test_page_names_the_examples_that_mypy_rejects() -> None:
    folders = {each.name for each in (ROOT / "examples").iterdir() if each.is_dir()}
    assert folders == TYPED_EXAMPLES.keys() | UNTYPED_EXAMPLES
    page = (ROOT / "docs" / "cookbook" / "types.md").read_text()
    named = {name for name in folders if f"`examples/{name}`" in page}
    assert named == UNTYPED_EXAMPLES - NOT_IN_PYTHON


@pytest.mark.parametrize("example", TYPED_EXAMPLES)
def test_mypy_accepts_the_examples(
    python: str, examples: Path, example: str, mypy_cache: str
) -> None:
    options = ("--strict", "--no-error-summary", "--python-executable", python)
    run("-m", "mypy", *options, mypy_cache, *TYPED_EXAMPLES[example], cwd=examples / example)


def test_pyright_accepts_the_examples(python: str, examples: Path) -> None:
    try:
        install(PYRIGHT)
    except CannotRun as error:
        missing(str(error))
    settings = {
        "typeCheckingMode": "strict",
        "include": list(EXAMPLES),
        "executionEnvironments": [{"root": example} for example in EXAMPLES],
    }
    (examples / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [PYRIGHT / "node_modules" / ".bin" / "pyright", "--pythonpath", python],
        cwd=examples,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 errors")


_REVEAL_TYPES = """
from pinboard.extensions import frontdesk
from pinboard.notes import list_notes

reveal_type(frontdesk.current_account)
reveal_type(frontdesk.accounts.find("ada@example.com"))
reveal_type(list_notes)
"""


def test_types_are_the_applications_account_and_the_views_signature(
    python: str, examples: Path, mypy_cache: str
) -> None:
    (examples / "tutorial" / "reveal.py").write_text(_REVEAL_TYPES)
    options = ("--strict", "--python-executable", python, mypy_cache)
    output = run("-m", "mypy", *options, "reveal.py", cwd=examples / "tutorial")
    assert '"pinboard.models.Account"' in output
    assert '"pinboard.models.Account | None"' in output
    assert "def (workspace_slug: str, query: dict[str, Any]) -> flask.wrappers.Response" in output
