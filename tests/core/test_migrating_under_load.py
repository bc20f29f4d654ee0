"""The newest migration is applied and reverted on a populated database while requests run.

`FRONTDESK_TEST_ACCOUNTS=100000 pytest tests/core/test_migrating_under_load.py` uses the size in
docs/performance.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from app.core.db.base import prepare_sqlite

from ..conftest import SECRET, migrate
from ..rigs.backends import postgres_database
from ..rigs.populate import populate
from ..rigs.servers import checkout_environment, gunicorn
from ..rigs.traffic import Client, Ledger, stored_titles, traffic

ACCOUNTS = int(os.environ.get("FRONTDESK_TEST_ACCOUNTS", "2000"))
EACH = 10
# They create and drop only what this version does not use, so it serves meanwhile.
STEPS = ("downgrade", "upgrade")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'large.db'}"
        return
    with postgres_database(f"frontdesk_large_{os.getpid()}") as made:
        yield made


@pytest.fixture
def populated(url: str) -> str:
    migrate(url)
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine)
    with engine.connect() as connection:
        populate(connection, ACCOUNTS, EACH)
    engine.dispose()
    return url


def run(step: str, url: str) -> float:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "db", step],
        env=checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def test_newest_migration_runs_while_requests_are_served(populated: str, tmp_path: Path) -> None:
    """The migration locks the accounts; requests for tasks continue without errors."""
    settings = {"SECRET_KEY": SECRET, "CORE__DATABASE_URL": populated}
    anonymous = Client(0, "a.b.c")
    with gunicorn(settings, tmp_path / "log") as port:
        anonymous.port = port
        with traffic(port, anonymous, anonymous) as ledger:
            took = {step: run(step, populated) for step in STEPS}
        titles = stored_titles(port)
    print(f"{populated.partition(':')[0]}, {ACCOUNTS} accounts: {took}, {summary(ledger)}")
    assert ledger.statuses("health") == {200}
    assert ledger.statuses("write") <= {201, 503}
    assert ledger.statuses("account") == {401}
    assert set(ledger.acknowledged) <= titles
    assert ledger.slowest("write") < 5


def summary(ledger: Ledger) -> dict[str, float]:
    return {kind: round(ledger.slowest(kind), 3) for kind in ("write", "health")}
