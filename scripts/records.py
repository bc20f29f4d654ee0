"""`make records`: writes the tables of docs/records.md from the catalogue of records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from app.core.records.catalogue import DEEDS, REFUSALS, RecordType

PAGE = Path(__file__).resolve().parents[1] / "docs" / "records.md"
_TABLE = re.compile(
    r"(?<=\| type \| what it means \| `data` \|\n\|---\|---\|---\|\n).*?(?=\n\n)", re.S
)


def rewritten(text: str) -> str:
    """What was done, and below it what was refused."""
    refused = {each.name: each for each in REFUSALS.values()}
    tables = iter((DEEDS, refused.values()))
    return _TABLE.sub(lambda _: "\n".join(_rows(next(tables))), text)


def _rows(types: Iterable[RecordType]) -> Iterable[str]:
    for each in types:
        data = "; ".join(f"`{name}`: {told}" for name, told in each.data.items())
        yield f"| `{each.name}` | {each.meaning} | {data} |"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
