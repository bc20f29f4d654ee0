"""The pages on tables and on scalability state what the code has."""

from __future__ import annotations

import re

import app.auth.mfa.models  # noqa: F401 - its tables are only mapped when MFA is on.
from app.broadcasts.expansions import RANGE_SIZE
from app.core.config.settings import CoreSettings
from app.core.db import pooler
from app.core.db.base import Base
from app.core.web import repeats
from app.notifications.settings import NotificationsSettings

from ..conftest import MakeApp, only_on
from ..rigs.servers import ROOT

ROW = re.compile(r"^\| `(frontdesk_\w+)` \| .* \| ([^|]+) \|$", re.MULTILINE)


@only_on("sqlite")
def test_tables_page_lists_every_table_and_column(make_app: MakeApp) -> None:
    make_app()
    page = (ROOT / "docs" / "tables.md").read_text()
    listed = {name: re.findall(r"`(\w+)`", columns) for name, columns in ROW.findall(page)}
    tables = Base.metadata.tables
    assert listed == {name: [each.name for each in table.columns] for name, table in tables.items()}


def test_scalability_page_states_the_defaults_and_limits_of_the_code() -> None:
    page = (ROOT / "docs" / "scale.md").read_text()
    inline = NotificationsSettings().INLINE_RECEIVERS
    pool = CoreSettings().DATABASE_POOL_SIZE
    assert f"`NOTIFICATIONS__INLINE_RECEIVERS` at {inline:,}" in page
    assert f"in ranges of {RANGE_SIZE:,} recipients" in page
    assert f"80 web processes with pools of {pool} open at most {80 * pool:,}" in page
    # Migrations need a direct URL in PgBouncer's transaction mode.
    assert "set CORE__DATABASE_DIRECT_URL" in pooler.TRANSACTION_MODE
    assert "pool_mode = transaction" in page
    assert "`CORE__DATABASE_DIRECT_URL` to PostgreSQL itself" in page
    assert repeats.REPEATS == 5
    assert "at most five times" in page
    assert f"grows from {repeats.PAUSE_SECONDS * 1000:.0f} ms" in page


def test_no_page_says_that_there_are_no_refresh_tokens() -> None:
    pages = {path.name: path.read_text() for path in (ROOT / "docs").rglob("*.md")}
    assert [name for name, text in pages.items() if "no refresh token" in text.lower()] == []
