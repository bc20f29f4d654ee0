"""Killed processes lose no delivery and send none twice."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.broadcasts.expansions import RANGE_SIZE

from ..conftest import Backend, MakePerson
from ..rigs.processes import Service, kill, within
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def installation(backend: Backend, sink: Sink, tmp_path: Path) -> Iterator[Service]:
    service = Service(backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port))
    yield service
    service.engine.dispose()


def test_killed_worker_loses_no_delivery(installation: Service, sink: Sink, notify: Notify) -> None:
    installation.add_accounts(40)
    notify(channels=["inapp", "email"])
    for mails in (5, 17):
        sink.before_taking = lambda: time.sleep(0.02)
        worker = installation.send()
        try:
            within(30, lambda until=mails: len(sink.received) >= until)  # type: ignore[misc]
        finally:
            kill(worker)
        installation.end_leases()
    sink.before_taking = lambda: None
    assert installation.send().wait(60) == 0
    times = Counter(sink.receivers)
    assert len(times) == 40
    # For each of the two killed workers, the delivery that it was sending.
    assert sum(times.values()) <= 42
    assert installation.count("frontdesk_deliveries WHERE state = 'sent'") == 40
    assert installation.count("frontdesk_inbox") == 40


def test_process_killed_in_a_broadcast_stores_all_or_nothing(
    installation: Service, sink: Sink, person: MakePerson
) -> None:
    """Kill processes at various times; the next process sends the remaining deliveries."""
    admin = person("root", role="admin")
    installation.add_accounts(299)
    token = admin.token()
    stored = added = 0
    for delay in (0.0, 0.02, 0.06, 0.2):
        with installation.server() as (url, process):
            _wait_for_all(installation, sink, url, stored, added)
            sink.received.clear()
            thread = threading.Thread(target=_broadcast, args=(url, token), daemon=True)
            thread.start()
            time.sleep(delay)
            kill(process)
            thread.join(5)
        before, stored = stored, installation.count("frontdesk_notifications")
        added = stored - before
        assert added in (0, 1), delay
        assert (
            installation.count("frontdesk_inbox")
            == installation.count("frontdesk_deliveries")
            == 300 * stored
        ), delay
        installation.end_leases()
    with installation.server() as (url, _process):
        _wait_for_all(installation, sink, url, stored, added)


def test_worker_killed_in_an_expansion_reaches_each_receiver_once(
    installation: Service, notify: Notify
) -> None:
    installation.add_accounts(40_000)
    installation.environment["CORE__EMAILS_ENABLED"] = "false"
    notify(channels=["inapp", "email"])
    assert installation.count("frontdesk_expansions") == 1
    assert installation.count("frontdesk_inbox") == 0
    for ranges in (1, 3):
        worker = installation.send()
        try:
            within(60, lambda expected=ranges: _stored(installation) >= expected)  # type: ignore[misc]
        finally:
            kill(worker)
        assert installation.count("frontdesk_expansions") == 1
        assert _stored(installation) * RANGE_SIZE == installation.count("frontdesk_inbox")
        installation.end_leases()
    assert installation.send().wait(120) == 0
    for table in ("frontdesk_inbox", "frontdesk_deliveries"):
        assert installation.count(table) == 40_000
        assert installation.count(f"(SELECT DISTINCT receiver_id FROM {table}) AS found") == 40_000
    assert installation.count("frontdesk_expansions") == 0


def _stored(installation: Service) -> int:
    """Return the number of stored ranges of an expansion."""
    return installation.count("frontdesk_deliveries") // RANGE_SIZE


def _wait_for_all(installation: Service, sink: Sink, url: str, stored: int, added: int) -> None:
    """Wait for the emails of the newest broadcast, if it was stored; one may be repeated."""
    _get(url, "/health")
    within(60, lambda: len(set(sink.receivers)) == 300 * added)
    within(
        10, lambda: installation.count("frontdesk_deliveries WHERE state = 'sent'") == 300 * stored
    )
    assert len(sink.receivers) <= 300 * added + 1


def _broadcast(url: str, token: str) -> None:
    body = {"data": {"title": "Closed", "message": "x", "channels": ["inapp", "email"]}}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection, path = _connect(url)
        connection.request("POST", f"{path}/admin/notifications/", json.dumps(body), headers)
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        # The process was killed; the database is checked.
        return


def _get(url: str, path: str) -> Any:
    connection, prefix = _connect(url)
    connection.request("GET", prefix + path)
    return json.loads(connection.getresponse().read())


def _connect(url: str) -> tuple[http.client.HTTPConnection, str]:
    parts = urlsplit(url)
    return http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10), parts.path
