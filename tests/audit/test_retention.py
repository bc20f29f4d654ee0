"""Old audit log entries are deleted."""

from __future__ import annotations

import json

import pytest
from flask import Flask

from app.audit.service import AuditLogRetention
from app.core.context import service
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson
from .entries import records


def prune(app: Flask) -> int:
    result = app.test_cli_runner().invoke(args=["frontdesk", "prune"])
    return int(json.loads(result.output.splitlines()[-1])["events"])


def test_old_entries_are_deleted(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUDIT__KEEP_DAYS="30")
    ada = person("ada", into=app)
    clock.step(days=29)
    ada.token()
    assert prune(app) == 0
    clock.step(days=2)
    assert prune(app) == 2
    assert [each.type for each in records(app)] == ["login.succeeded"]


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_entries_are_deleted_in_batches(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock, batch: int
) -> None:
    app = make_app(AUDIT__KEEP_DAYS="1")
    person("ada", into=app)
    clock.step(days=2)
    with app.app_context():
        assert service(AuditLogRetention).prune(batch) == 2
    assert records(app) == []
