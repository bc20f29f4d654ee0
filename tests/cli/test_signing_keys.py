"""`flask auth keys …`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.auth.tokens.signing_keys import read_keys

from ..conftest import MakeApp, only_on
from ..rigs.cases import for_each
from ..rigs.signing_keys import EDDSA, ES256, STRANGE, key_set, public
from .test_command_line import run

pytestmark = only_on("sqlite")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "keys.json"


@pytest.fixture
def app(make_app: MakeApp, path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """An application of a command, which reads no keys at its start."""
    monkeypatch.setenv("FLASK_RUN_FROM_CLI", "true")
    return make_app(AUTH__SIGNING_KEYS=str(path))


def keys(app: Flask, *arguments: str, code: int = 0) -> list[Any]:
    return [json.loads(line) for line in run(app, "auth", "keys", *arguments).splitlines()]


def error(app: Flask, *arguments: str) -> str:
    return run(app, "auth", "keys", *arguments, code=1)


def file_with(path: Path, *found: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(key_set(*found))


def kids(path: Path) -> list[str]:
    return [key.kid for key in read_keys(path.read_text())]


def test_new_key_is_the_last_one_of_a_private_file(app: Flask, path: Path) -> None:
    before = os.umask(0)
    try:
        [one] = keys(app, "new")
        [two] = keys(app, "new", "--algorithm", "EdDSA")
    finally:
        os.umask(before)
    assert (one["algorithm"], one["signs"]) == ("ES256", True)
    assert (two["algorithm"], two["signs"]) == ("EdDSA", False)
    assert keys(app, "list") == [one, two]
    assert kids(path) == [one["kid"], two["kid"]]
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list(path.parent.iterdir()) == [path]


def test_new_key_says_how_to_publish_it(app: Flask, path: Path) -> None:
    file_with(path, ES256)
    result = app.test_cli_runner().invoke(args=["auth", "keys", "new"])
    kid = kids(path)[-1]
    assert result.stderr == (
        "Reload the service to publish the key, and wait 300 seconds, for which other services"
        f" cache the keys. Then run `flask auth keys first {kid}`, and reload the service again.\n"
    )
    [first] = keys(app, "first", kid)
    assert first == {"kid": kid, "algorithm": "ES256", "signs": True}
    assert kids(path) == [kid, ES256["kid"]]
    [newest] = keys(app, "new", "--first")
    assert kids(path) == [newest["kid"], kid, ES256["kid"]]


def test_other_keys_are_untouched(app: Flask, path: Path) -> None:
    ours = ES256 | {"made_by": "us"}
    file_with(path, ours, public(EDDSA))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"note": "kept"}))
    path.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(path, 1000, -1)
    owner = path.stat().st_uid
    link = path.with_name("link.json")
    link.symlink_to(path)
    keys(app, "new")
    document = json.loads(path.read_text())
    assert (document["keys"][:2], document["note"]) == ([ours, public(EDDSA)], "kept")
    assert (path.stat().st_mode & 0o777, path.stat().st_uid) == (0o600, owner)
    assert link.is_symlink()


def test_retired_key_is_removed_unless_it_signs(app: Flask, path: Path) -> None:
    file_with(path, ES256, EDDSA)
    text = error(app, "retire", ES256["kid"])
    assert f"The key {ES256['kid']} signs: put another key first" in text
    [retired] = keys(app, "retire", EDDSA["kid"])
    assert retired == {"kid": EDDSA["kid"], "tokens_live_minutes": 30}
    assert kids(path) == [ES256["kid"]]


@for_each("command", ["first", "retire"])
def test_unknown_key_is_an_error(app: Flask, path: Path, command: str) -> None:
    file_with(path, ES256)
    assert f"has no key {STRANGE['kid']}" in error(app, command, STRANGE["kid"])


def test_public_key_cannot_be_first(app: Flask, path: Path) -> None:
    file_with(path, ES256, public(EDDSA))
    assert "without its private part" in error(app, "first", EDDSA["kid"])
    assert kids(path) == [ES256["kid"], EDDSA["kid"]]


def test_file_that_cannot_be_used_is_an_error(app: Flask, path: Path) -> None:
    assert "cannot be read: No such file or directory" in error(app, "list")
    path.parent.write_text("a file")
    assert "cannot be changed: " in error(app, "new")
    path.parent.unlink()
    path.parent.mkdir()
    path.write_text("{")
    for command in ("list", "new"):
        assert "is not a JWK set" in error(app, command)
    assert path.read_text() == "{"


@for_each(
    ("settings", "reason"),
    [
        ({}, "AUTH__SIGNING_KEYS is not set"),
        ({"AUTH__SIGNING_KEYS": key_set(ES256)}, "has the keys themselves"),
    ],
)
def test_keys_need_a_file(make_app: MakeApp, settings: dict[str, str], reason: str) -> None:
    assert reason in error(make_app(**settings), "new")


def test_doctor_reports_an_unreadable_and_an_exposed_file(app: Flask, path: Path) -> None:
    def findings() -> list[Any]:
        found = json.loads(
            app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
        )
        return [each for each in found["findings"] if str(path) in each["message"]]

    [missing] = findings()
    assert (missing["check"], missing["level"]) == ("signing_keys", "fault")
    file_with(path, ES256)
    path.parent.chmod(0o755)
    path.chmod(0o644)
    [exposed] = findings()
    assert (exposed["check"], exposed["level"]) == ("private_files", "warning")
    path.chmod(0o600)
    assert findings() == []
