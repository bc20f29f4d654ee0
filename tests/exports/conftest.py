from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask

from app.core.hooks import Hooks
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.manual_engine import ManualEngine

Fetch = Callable[[Api], ZipFile]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "exports"


@pytest.fixture
def app(make_app: MakeApp, folder: Path) -> Flask:
    return make_app(AUTH__ACCOUNT_EXPORTS="on", AUTH__EXPORT_FOLDER=str(folder))


@pytest.fixture
def hooks(app: Flask) -> Hooks:
    found: Hooks = app.extensions["frontdesk"].hooks
    return found


@pytest.fixture
def fetch(engine: ManualEngine) -> Fetch:
    """Return a function that requests a data export, has it created, and opens the archive."""

    def fetch(api: Api) -> ZipFile:
        export_id = ask(api)
        engine.deliver()
        return open_archive(api, export_id)

    return fetch


def ask(api: Api) -> int:
    return int(api.post("/account/exports", 202, json={}).json["id"])


def state(api: Api, export_id: int) -> str:
    return str(api.get(f"/account/exports/{export_id}").json["state"])


def open_archive(api: Api, export_id: int) -> ZipFile:
    archive = api.get(f"/account/exports/{export_id}/file").response
    return ZipFile(BytesIO(archive.get_data()))


def document(archive: ZipFile, name: str) -> Any:
    return json.loads(archive.read(name))


def lines(archive: ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(name).splitlines()]
