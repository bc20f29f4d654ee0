"""The reference page on tables lists every table and column of the code."""

from __future__ import annotations

import re

import app.auth.mfa.models  # noqa: F401 - its tables are only mapped when MFA is on.
from app.core.db.base import Base

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
