"""Which modules the service imports at its start."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from ..conftest import SECRET
from ..rigs.servers import ROOT, checkout_environment

HEAVY = {
    "alembic",
    "apispec",
    "authlib",
    "boto3",
    "botocore",
    "celery",
    "flask_mail",
    "PIL",
    "phonenumbers",
    "playwright",
    "psycopg",
    "requests",
    "twilio",
}

_PROBE = """
import json, sys
from app import create_app
app = create_app()
response = app.test_client().get("/api/v1/health")
print(json.dumps([response.status_code, sorted(sys.modules)]))
"""


def run_program(program: str, tmp_path: Path, **settings: str) -> str:
    """Run a program in a new process with an empty database and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=checkout_environment(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'x.db'}", **settings),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def loaded_modules(tmp_path: Path, **settings: str) -> set[str]:
    """Return the modules that are imported once the service has answered a request."""
    status, modules = json.loads(run_program(_PROBE, tmp_path, SECRET_KEY=SECRET, **settings))
    assert status == 200
    return set(modules)


@pytest.fixture(scope="module")
def default_modules(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The modules of a service without settings, shared by several tests."""
    return frozenset(loaded_modules(tmp_path_factory.mktemp("plain")))


def test_first_response_imports_no_heavy_library(default_modules: frozenset[str]) -> None:
    assert default_modules & HEAVY == set()


def test_server_imports_no_commands(default_modules: frozenset[str]) -> None:
    commands = {f"app.cli.{path.stem}" for path in (ROOT / "app" / "cli").glob("*.py")}
    deferred = commands - {"app.cli.__init__", "app.cli.groups"}
    assert deferred
    assert default_modules & deferred == set()


def test_configured_libraries_are_imported_on_first_use(tmp_path: Path) -> None:
    found = loaded_modules(
        tmp_path,
        SMS_ACCOUNT_SID="AC1",
        SMS_AUTH_TOKEN="x",
        SMS_PHONE_NUMBER="+15550100",
        MAIL_SERVER="127.0.0.1",
        AUTH__ENABLE_IDP_OAUTH="true",
        IDP_OAUTH_CLIENT_ID="ours",
        IDP_METADATA_URL="http://127.0.0.1:9/.well-known/openid-configuration",
    )
    assert found & HEAVY == set()


def test_start_neither_imports_cryptography_nor_disables_garbage_collection(tmp_path: Path) -> None:
    probe = "import wsgi, gc, sys; print('cryptography' in sys.modules, gc.isenabled())"
    assert run_program(probe, tmp_path) == "False True"


def test_keystore_imports_no_tracing_library(tmp_path: Path) -> None:
    """The Redis client would import it where tracing is installed."""
    found = loaded_modules(tmp_path, CORE__REDIS_URL="redis://127.0.0.1:9/0")
    assert "redis" in found
    assert [name for name in found if name.startswith("opentelemetry.sdk")] == []


def test_importing_the_package_creates_no_application_and_reads_no_settings() -> None:
    """Applications import the package, and their environment can hold unknown settings."""
    environment = checkout_environment(CORE__TYPO="1")
    done = subprocess.run(
        [sys.executable, "-c", "import app, sys; print('app.accounts.account' in sys.modules)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
    assert done.stderr == ""


def test_flask_run_logs_each_warning_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "routes"],
        env=checkout_environment(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'x.db'}"),
        capture_output=True,
        text=True,
        check=True,
    )
    warnings = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert len(warnings) == len(set(warnings))
    assert [text for text in warnings if text.startswith("SECRET_KEY is not set")]


def test_disabled_sign_in_methods_are_not_imported(
    default_modules: frozenset[str], tmp_path: Path
) -> None:
    without_console = loaded_modules(tmp_path, CORE__CONSOLE_ENABLED="false")
    assert _inside(without_console, "sessions", "passkeys", "login_codes") == {
        "app.auth.sessions.settings"
    }
    # The console signs in by a cookie session.
    assert "app.auth.sessions.cookie_sessions" in default_modules
    assert _inside(default_modules, "passkeys", "login_codes") == set()
    assert "app.auth.mfa.models" not in default_modules | without_console


def _inside(names: Iterable[str], *packages: str) -> set[str]:
    return {name for name in names if name.startswith(tuple(f"app.auth.{p}." for p in packages))}


def test_console_imports_its_pages_on_first_use(
    default_modules: frozenset[str], tmp_path: Path
) -> None:
    inside = {name for name in default_modules if name.startswith("app.console.")}
    assert "app.console.routes" in inside
    assert inside & {"app.console.pages", "app.console.texts", "app.console.api_calls"} == set()
    assert not [
        name for name in inside if name.startswith(("app.console.owner.", "app.console.admin."))
    ]
    off = loaded_modules(tmp_path, CORE__CONSOLE_ENABLED="false")
    assert not [name for name in off if name.startswith("app.console")]


def test_enabled_sign_in_methods_import_no_heavy_library(tmp_path: Path) -> None:
    on = loaded_modules(
        tmp_path, AUTH__SESSIONS="on", AUTH__MFA="optional", AUTH__LOGIN_BY_CODE="on"
    )
    assert {"app.auth.mfa.models", "app.auth.passkeys.sign_in"} <= on
    assert on & {*HEAVY, "webauthn", "segno", "cbor2", "OpenSSL"} == set()
