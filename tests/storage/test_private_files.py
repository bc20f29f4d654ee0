"""Files that the service writes are readable only by its own user, whatever the umask is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

import pytest
from flask import Flask

from app.core.process.folders import make_private_folder
from app.storage import LocalFileStore

from ..cli.test_command_line import run
from ..conftest import MakeApp, MakePerson, only_on
from ..exports.conftest import ask, state
from ..profiles.test_avatars import send
from ..profiles.test_profiles import ADA
from ..rigs.cases import for_each
from ..rigs.manual_engine import ManualEngine
from ..rigs.pictures import plain

SETTINGS = {
    "CORE__DATABASE_URL": "sqlite:///frontdesk.db",
    "CORE__KEYSTORE": "database",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "PROFILES__AVATAR_FOLDER": "pictures/avatars",
}


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def with_umasks(*masks: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("umask", masks, indirect=True, ids=lambda mask: f"{mask:03o}")


def mode(path: Path) -> int:
    return S_IMODE(path.stat().st_mode)


def create_all_files(app: Flask, person: MakePerson, engine: ManualEngine) -> Path:
    """Create a file of each kind: database, state, avatar, export and email."""
    run(app, "db", "upgrade")
    api = person("ada", into=app).api()
    api.post("/profiles", 200, json=ADA)
    send(api, plain("PNG"), 200)
    export = ask(api)
    engine.deliver()
    assert state(api, export) == "ready"
    run(app, "mail", "send-test", "invitation", "bob@example.com")
    return Path(app.instance_path)


@only_on("sqlite")
@pytest.mark.usefixtures("umask")
@with_umasks(0o000, 0o022, 0o077)
def test_files_are_0600_and_folders_0700_under_every_umask(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine
) -> None:
    instance = create_all_files(make_app(**SETTINGS), person, engine)
    below = list(instance.rglob("*"))
    files = {path.relative_to(instance): mode(path) for path in below if path.is_file()}
    folders = {path: mode(path) for path in (instance, *below) if path.is_dir()}
    assert set(files.values()) == {0o600}, files
    assert set(folders.values()) == {0o700}, folders
    assert {path.parts[0] for path in files} >= {
        *("frontdesk.db", "frontdesk.db-wal", "frontdesk.db-shm"),
        *("frontdesk.db-state", "frontdesk.db-state-wal", "frontdesk.db-state-shm"),
        *("outbox", "pictures", "exports"),
    }


@pytest.mark.usefixtures("umask")
@with_umasks(0o022)
def test_existing_folder_keeps_its_mode_and_new_files_are_0600(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(0o755)
    store = LocalFileStore(tmp_path / "shared" / "avatars")
    store.put("a1.png", b"x", "image/png")
    (stored,) = store.folder.iterdir()
    assert [mode(path) for path in (tmp_path / "shared", store.folder, stored)] == [
        *(0o755, 0o700, 0o600)
    ]
    make_private_folder(tmp_path / "shared")
    assert mode(tmp_path / "shared") == 0o755


@only_on("sqlite")
def test_existing_file_becomes_private_when_accounts_are_exported_to_it(
    app: Flask, tmp_path: Path
) -> None:
    file = tmp_path / "accounts.ndjson"
    file.touch(0o644)
    file.chmod(0o644)
    run(app, "accounts", "export", str(file))
    assert mode(file) == 0o600


@only_on("sqlite")
@for_each("query", ["?mode=ro&uri=true", "?mode=rw&uri=true"])
def test_database_that_must_exist_is_not_created(
    make_app: MakeApp, tmp_path: Path, query: str
) -> None:
    path = tmp_path / "data.db"
    app = make_app(CORE__DATABASE_URL=f"sqlite:///file:{path}{query}")
    assert app.test_client().get("/api/v1/health/ready").status_code == 503
    assert not path.exists()


@only_on("sqlite")
def test_database_in_a_missing_folder_is_unavailable(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(CORE__DATABASE_URL=f"sqlite:///{tmp_path}/missing/data.db")
    assert app.test_client().get("/api/v1/health/ready").status_code == 503


@only_on("sqlite")
@pytest.mark.usefixtures("umask")
@with_umasks(0o022)
def test_doctor_names_the_command_for_each_exposed_file(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine
) -> None:
    app = make_app(**SETTINGS)
    instance = create_all_files(app, person, engine)
    assert exposed(app) == []
    below = [instance, *instance.rglob("*")]
    for path in below:
        path.chmod(0o755 if path.is_dir() else 0o644)
    warnings = exposed(app)
    assert len(warnings) == 5
    for warning in warnings:
        command = warning.partition("Run `")[2].rstrip("`.")
        subprocess.run(command, shell=True, check=True)
    assert exposed(app) == []
    for path in below:
        is_open_folder = path in (instance, instance / "pictures")
        assert is_open_folder or mode(path) & 0o077 == 0, path


@only_on("sqlite")
@pytest.mark.usefixtures("umask")
@with_umasks(0o022)
def test_private_folder_protects_its_files(make_app: MakeApp) -> None:
    app = make_app(**SETTINGS)
    run(app, "db", "upgrade")
    (Path(app.instance_path) / "frontdesk.db").chmod(0o644)
    assert exposed(app) == []


def exposed(app: Flask) -> list[str]:
    output = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
    found = json.loads(output.splitlines()[-1])["findings"]
    return [each["message"] for each in found if each["check"] == "private_files"]
