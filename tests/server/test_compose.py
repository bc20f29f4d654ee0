"""The rules for the containers of both Compose files, without a container engine.

docker-compose reads the files, and the script for PostgreSQL runs with a real server.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from sqlalchemy.engine import make_url

from scripts import digests
from scripts.release import MAX_IMAGE_DAYS, old_images
from scripts.settings import settings

from ..rigs.backends import missing
from ..rigs.clusters import Cluster, as_postgres, postgres_cluster, postgres_programs
from ..rigs.servers import ROOT, bare_environment
from ..rigs.traffic import migrate_with_accounts

ONE, MANY = "compose.yaml", "deploy/compose/high-availability.yaml"
# Each value is unique, so that a container that gets a password is recognized.
REQUIRED = {
    "SECRET_KEY": "password-of-tokens",
    "FIRST_SUPERUSER_PASSWORD": "password-of-root",
    "POSTGRES_PASSWORD": "password-of-service",
    "POSTGRES_SUPERUSER_PASSWORD": "password-of-postgres",
    "REDIS_PASSWORD": "password-of-redis",
}
REQUIRED_OF_MANY = {"RABBITMQ_PASSWORD": "password-of-rabbitmq", "TLS_FOLDER": "/etc/ssl/frontdesk"}
FRONTDESK = {"migrate", "web", "worker"}
NEEDS = {
    "SECRET_KEY": FRONTDESK,
    "FIRST_SUPERUSER_PASSWORD": {"migrate"},
    "POSTGRES_PASSWORD": {*FRONTDESK, "postgres"},
    "POSTGRES_SUPERUSER_PASSWORD": {"postgres"},
    "REDIS_PASSWORD": {*FRONTDESK, "redis", "sentinel"},
    "RABBITMQ_PASSWORD": {*FRONTDESK, "rabbitmq"},
    # Of another program that is configured in the same file.
    "BACKUP_PASSWORD": set(),
}


def required(name: str) -> dict[str, str]:
    return REQUIRED | (REQUIRED_OF_MANY if name == MANY else {})


def run_config(
    name: str, folder: Path, settings: dict[str, str], own: str = ""
) -> subprocess.CompletedProcess[str]:
    """Return what compose makes of the file `name` with `settings` in .env."""
    if shutil.which("docker-compose") is None:
        missing("docker-compose is not installed")
    shutil.copytree(ROOT / "deploy" / "compose", folder / "deploy" / "compose")
    shutil.copy(ROOT / ONE, folder)
    (folder / ".env").write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
    (folder / "frontdesk.env").write_text(own)
    command = ["docker-compose", "--project-directory", ".", "--file", name, "config"]
    return subprocess.run(
        command, cwd=folder, env=bare_environment(), capture_output=True, text=True, check=False
    )


def compose_services(name: str, folder: Path, own: str = "") -> Any:
    settings = required(name) | {"BACKUP_PASSWORD": "password-of-backup"}
    done = run_config(name, folder, settings, own)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)["services"]


@pytest.fixture(scope="module", params=[ONE, MANY])
def file(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def services(file: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return compose_services(file, tmp_path_factory.mktemp("compose"))


@pytest.mark.parametrize(
    ("name", "variable"), [(name, variable) for name in (ONE, MANY) for variable in required(name)]
)
def test_each_password_and_the_certificate_are_required(
    tmp_path: Path, name: str, variable: str
) -> None:
    done = run_config(name, tmp_path, required(name) | {variable: ""})
    assert done.returncode != 0
    assert f"set {variable} in .env" in done.stderr


def test_example_of_dotenv_names_all_required_variables() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    assert required(MANY).keys() <= {line.lstrip("#").partition("=")[0] for line in lines}


def test_password_reaches_only_the_containers_that_need_it(file: str, services: Any) -> None:
    given = required(file) | {"BACKUP_PASSWORD": "password-of-backup"}
    for variable, needed in NEEDS.items():
        if variable not in given:
            continue
        found = {
            name.rstrip("123")
            for name, service in services.items()
            if given[variable] in yaml.safe_dump(service, width=10_000)
        }
        expected = needed - ({"sentinel"} if file == ONE else set())
        assert found == expected, variable


def test_every_container_has_a_read_only_root_and_no_privileges(services: Any) -> None:
    added = {name: service["cap_add"] for name, service in services.items() if "cap_add" in service}
    # nginx reads the key of the certificate as root, and starts workers as another user.
    assert set(added) <= {"nginx"}
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service, name
        # The image of the service has its own user.
        assert name == "nginx" or service["image"] == "frontdesk" or service["user"] != "root", name


def test_service_gets_its_settings_from_its_own_file(file: str, tmp_path: Path) -> None:
    own = {
        "IDP_METADATA_URL": "https://id.example.com",
        "MAIL_SERVER": "smtp.example.com",
        "CORE__PRODUCTION_CHECKS": "warn",
    }
    text = "".join(f"{name}={value}\n" for name, value in own.items())
    for name, service in compose_services(file, tmp_path, text).items():
        if name.rstrip("12") in FRONTDESK:
            assert service["environment"].items() >= own.items()
        else:
            assert not own.keys() & service.get("environment", {}).keys()


def test_service_gets_existing_settings_and_strict_checks(services: Any) -> None:
    known = {*settings(), "WEB_CONCURRENCY", "BIND"}
    environments = [
        service["environment"] for service in services.values() if service["image"] == "frontdesk"
    ]
    for environment in environments:
        assert environment.keys() <= known
        assert environment["CORE__PRODUCTION_CHECKS"] == "refuse"
        assert (environment["MAIL_SERVER"], environment["MAIL_PORT"]) == ("mail", "1025")
        login = environment["CORE__DATABASE_URL"].partition("@")[0]
        assert login == "postgresql+psycopg://frontdesk:password-of-service"


def test_every_image_has_the_same_date_in_all_files() -> None:
    texts = {name: (ROOT / name).read_text() for name in digests.FILES}
    found: dict[str, set[str | None]] = {}
    for text in texts.values():
        for image, day in digests.dates(text).items():
            found.setdefault(image, set()).add(day)
    assert len(found) == 6
    assert [image for image, days in found.items() if len(days) > 1 or None in days] == []
    newest = max(date.fromisoformat(day) for days in found.values() for day in days if day)
    assert newest <= date.today()


@pytest.mark.parametrize(
    "text", ["    image: redis:8.10.2{}\n", "  image: redis:8.10.2@sha256:" + "7" * 64 + "{}\n"]
)
def test_release_rejects_an_image_that_is_too_old_or_has_no_date(text: str) -> None:
    day = date(2026, 9, 17)
    pinned = {ONE: text.format(f" # {day}")}
    assert old_images(pinned, day + timedelta(MAX_IMAGE_DAYS)) == []
    assert old_images(pinned, day + timedelta(MAX_IMAGE_DAYS + 1)) == [
        "compose.yaml: redis:8.10.2: 2026-09-17"
    ]
    assert old_images({ONE: text.format("")}, day) == ["compose.yaml: redis:8.10.2: no date"]
    base = f"# {day}\nARG PYTHON=python:3.12.15-slim-trixie\n"
    assert old_images({"Dockerfile": base}, day) == []


@pytest.fixture
def server() -> Iterator[Cluster]:
    """A new PostgreSQL server after the script of the role has run."""
    with postgres_cluster() as server:
        yield server


def create_role(server: Cluster) -> None:
    # The user of PostgreSQL cannot enter the folders of the checkout.
    script = server.folder / "role.sh"
    shutil.copy(ROOT / "deploy" / "compose" / "role.sh", script)
    environment = {
        "PATH": f"{postgres_programs()}:/usr/bin:/bin",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server.port),
        "POSTGRES_USER": "postgres",
        "SERVICE_PASSWORD": 'it\'s a "password"',
    }
    subprocess.run(
        [*as_postgres(server.folder), "sh", str(script)], cwd=server.folder, env=environment,
        check=True, timeout=60,
    )  # fmt: skip


def role_url(server: Cluster) -> str:
    url = make_url(server.url).set(username="frontdesk", database="frontdesk")
    return url.render_as_string(hide_password=False)


def ask(url: str, query: str) -> list[Any]:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return connection.execute(query).fetchall()


def test_role_of_the_service_owns_its_database_and_is_no_superuser(server: Cluster) -> None:
    create_role(server)
    url = role_url(server)
    rights = "rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolcanlogin"
    roles = f"SELECT {rights} FROM pg_roles WHERE rolname = current_user"
    assert ask(url, roles) == [(False, False, False, False, False, True)]
    hashed = "SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'frontdesk'"
    assert ask(server.url, hashed) == [(True,)]
    migrate_with_accounts(url)


def test_dump_of_a_superusers_database_is_restored_for_the_role(server: Cluster) -> None:
    """The steps of docs/compose.md for a volume from before."""
    server.execute("CREATE DATABASE before")
    before = server.url.removesuffix("/postgres") + "/before"
    migrate_with_accounts(before)
    accounts = ask(before, "SELECT count(*) FROM accounts")
    create_role(server)
    url = role_url(server)
    plain = [each.replace("+psycopg", "") for each in (before, url)]
    dump = [f"{postgres_programs()}/pg_dump", "-Fc", plain[0]]
    restore = [f"{postgres_programs()}/pg_restore", "--no-owner", "--exit-on-error", "-d", plain[1]]
    dumped = subprocess.run(dump, check=True, capture_output=True, timeout=60).stdout
    subprocess.run(restore, input=dumped, check=True, timeout=60)
    assert ask(url, "SELECT count(*) FROM accounts") == accounts != [(0,)]
    owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    assert ask(url, owners) == [("frontdesk",)]
