"""Killed workers: a delayed email is neither lost nor sent after its notification was read."""

from __future__ import annotations

import json
import subprocess
import sys

from flask import Flask
from sqlalchemy import select

from app.core.context import current_frontdesk
from app.delivery.outbox.models import Delivery, OutgoingMessage

from ..conftest import Backend
from ..rigs.servers import checkout_environment

KILLS = 100


def test_killed_workers_lose_no_delayed_email_and_send_none_after_it_was_read(
    app: Flask, backend: Backend
) -> None:
    command = [sys.executable, "-m", "tests.rigs.killed_workers", backend.database_url, str(KILLS)]
    done = subprocess.run(
        command, env=checkout_environment(), check=True, timeout=300, stdout=subprocess.PIPE
    )
    report = json.loads(done.stdout)
    sent, read = ({(a, b) for a, b in report[name]} for name in ("sent", "read"))
    with app.app_context():
        columns = (Delivery.receiver_id, Delivery.state, Delivery.reason, Delivery.attempts)
        rows = select(OutgoingMessage.subject_id, *columns)
        found = current_frontdesk.session.execute(
            rows.join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        ).all()
    states = {(row.subject_id, row.receiver_id): (row.state, row.reason) for row in found}
    assert set(states.values()) == {("sent", None), ("skipped", "Read before")}
    assert report["late"] == []
    assert {pair for pair, (state, _) in states.items() if state == "sent"} <= sent
    assert {pair for pair, (state, _) in states.items() if state == "skipped"} <= read
    # Workers were killed between a claim and its result.
    assert max(row.attempts for row in found) > 1
