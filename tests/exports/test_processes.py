"""Data exports by real server and worker processes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import sqlalchemy as sa
from flask import Flask

from ..conftest import Backend, MakePerson, only_on
from ..rigs.backends import redis_server
from ..rigs.processes import Service, kill, within

READY = "frontdesk_exports WHERE state = 'ready'"
ROWS = 20_000

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def installation(backend: Backend, tmp_path: Path, folder: Path) -> Iterator[Service]:
    settings = {"AUTH__ACCOUNT_EXPORTS": "on", "AUTH__EXPORT_FOLDER": str(folder)}
    service = Service(backend, tmp_path, **settings)
    yield service
    service.engine.dispose()


def test_killed_server_is_replaced_by_another(
    installation: Service, app: Flask, person: MakePerson, folder: Path
) -> None:
    ada = person("ada")
    fill_inbox(installation, ada.id)
    with installation.server() as (url, process):
        ask(url, ada.token())
        kill(process)
    with installation.engine.begin() as connection:
        # Simulates that half a minute has passed.
        connection.execute(sa.text("UPDATE frontdesk_exports SET due_at = '2026-01-01 00:00:00'"))
    with installation.server() as (url, _process):
        urllib.request.urlopen(f"{url}/health").close()
        within(60, lambda: installation.count(READY) == 1)
    check(installation, folder)


@only_on("postgresql")
def test_celery_worker_creates_exports(
    installation: Service, app: Flask, person: MakePerson, folder: Path, tmp_path: Path
) -> None:
    ada = person("ada")
    fill_inbox(installation, ada.id)
    ada.api().post("/account/exports", 202, json={})
    with redis_server(tmp_path) as broker:
        installation.environment["CORE__CELERY_BROKER_URL"] = broker
        with installation.worker(processes=1):
            within(90, lambda: installation.count(READY) == 1)
    check(installation, folder)


def fill_inbox(installation: Service, account_id: Any) -> None:
    """Insert so many rows that an export takes longer than killing the server."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})"
    with installation.engine.begin() as connection:
        for statement in (
            "INSERT INTO frontdesk_notifications (title, message, channels, notification_type,"
            " scope, receivers, created_at)"
            f" {numbers} SELECT 'Closed', 'x', '[]', 'system', 'account', 1, '2026-01-01 00:00:00'"
            " FROM n",
            "INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)"
            f" SELECT id, {account_id}, false FROM frontdesk_notifications",
        ):
            connection.execute(sa.text(statement))


def ask(url: str, token: str) -> None:
    request = urllib.request.Request(
        f"{url}/account/exports",
        json.dumps({}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request).close()


def check(installation: Service, folder: Path) -> None:
    with installation.engine.connect() as connection:
        name = connection.execute(sa.text("SELECT file FROM frontdesk_exports")).scalar_one()
    with ZipFile(folder / name) as archive:
        assert archive.read("inbox.jsonl").count(b"\n") == ROWS
