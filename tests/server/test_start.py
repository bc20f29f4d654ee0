"""What a start costs, and that nothing is loaded before it is used."""

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


def said(program: str, tmp_path: Path, **settings: str) -> str:
    """By a process of its own, which has a database that nobody has used."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=checkout_environment(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'x.db'}", **settings),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def loaded(tmp_path: Path, **settings: str) -> set[str]:
    """The modules that are there once the service has answered its first request."""
    status, modules = json.loads(said(_PROBE, tmp_path, SECRET_KEY=SECRET, **settings))
    assert status == 200
    return set(modules)


@pytest.fixture(scope="module")
def as_it_comes(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """What is there where nothing is configured, which several tests look at."""
    return frozenset(loaded(tmp_path_factory.mktemp("plain")))


def test_the_first_answer_loads_nothing_heavy(as_it_comes: frozenset[str]) -> None:
    assert as_it_comes & HEAVY == set()


def test_a_server_loads_no_commands(as_it_comes: frozenset[str]) -> None:
    commands = {f"app.cli.{path.stem}" for path in (ROOT / "app" / "cli").glob("*.py")}
    deferred = commands - {"app.cli.__init__", "app.cli.groups"}
    assert deferred
    assert as_it_comes & deferred == set()


def test_what_is_configured_is_not_loaded_before_it_is_used(tmp_path: Path) -> None:
    found = loaded(
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


def test_the_server_leaves_curves_and_garbage_alone_while_it_starts(tmp_path: Path) -> None:
    probe = "import wsgi, gc, sys; print('cryptography' in sys.modules, gc.isenabled())"
    assert said(probe, tmp_path) == "False True"


def test_the_keystore_brings_no_library_for_metrics(tmp_path: Path) -> None:
    """The client of Redis would, where tracing is installed."""
    found = loaded(tmp_path, CORE__REDIS_URL="redis://127.0.0.1:9/0")
    assert "redis" in found
    assert [name for name in found if name.startswith("opentelemetry.sdk")] == []


def test_importing_the_package_makes_no_application_and_reads_no_settings() -> None:
    """A host imports it, and its settings may not be ours."""
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


def test_flask_run_warns_once_of_each_thing(tmp_path: Path) -> None:
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


def test_ways_to_sign_in_that_are_switched_off_are_not_loaded(
    as_it_comes: frozenset[str], tmp_path: Path
) -> None:
    without_console = loaded(tmp_path, CORE__CONSOLE_ENABLED="false")
    assert _inside(without_console, "sessions", "passkeys", "login_codes") == {
        "app.auth.sessions.settings"
    }
    # The console signs in by a cookie, which has a session.
    assert "app.auth.sessions.cookie_sessions" in as_it_comes
    assert _inside(as_it_comes, "passkeys", "login_codes") == set()
    assert "app.auth.mfa.models" not in as_it_comes | without_console


def _inside(names: Iterable[str], *packages: str) -> set[str]:
    return {name for name in names if name.startswith(tuple(f"app.auth.{p}." for p in packages))}


def test_the_console_loads_no_page_before_one_is_asked_for(
    as_it_comes: frozenset[str], tmp_path: Path
) -> None:
    inside = {name for name in as_it_comes if name.startswith("app.console.")}
    assert "app.console.routes" in inside
    assert inside & {"app.console.pages", "app.console.texts", "app.console.api_calls"} == set()
    assert not [
        name for name in inside if name.startswith(("app.console.owner.", "app.console.admin."))
    ]
    off = loaded(tmp_path, CORE__CONSOLE_ENABLED="false")
    assert {name for name in off if name.startswith("app.console.")} <= {"app.console.host_pages"}


def test_ways_to_sign_in_that_are_switched_on_load_nothing_heavy(tmp_path: Path) -> None:
    on = loaded(tmp_path, AUTH__SESSIONS="on", AUTH__MFA="optional", AUTH__LOGIN_BY_CODE="on")
    assert {"app.auth.mfa.models", "app.auth.passkeys.sign_in"} <= on
    assert on & {*HEAVY, "webauthn", "segno", "cbor2", "OpenSSL"} == set()
