"""Pages of lists that are read by how many to pass over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import request
from werkzeug.datastructures import MultiDict

from .ways import to

# Further on a page would cost what all before it cost; searching leads there.
MOST_OFFSET = 10_000


class Ways(NamedTuple):
    """To the pages beside this one, and which rows it shows; None where there is no such page."""

    newer: str | None
    older: str | None
    first: int
    last: int


class Paging(NamedTuple):
    offset: int
    limit: int

    @classmethod
    def asked(cls, limit: int) -> Paging:
        """By the address of the page; whoever has written that by hand begins in front."""
        given = request.args.get("offset", "")
        is_number = given.isascii() and given.isdigit() and len(given) <= len(str(MOST_OFFSET))
        return cls(min(int(given), MOST_OFFSET) if is_number else 0, limit)

    @property
    def query(self) -> dict[str, Any]:
        """One row more than is shown tells whether there is another page."""
        return {"offset": self.offset, "limit": self.limit + 1}

    def shown(self, rows: Sequence[Any]) -> Sequence[Any]:
        return rows[: self.limit]

    def ways(self, rows: Sequence[Any]) -> Ways:
        before, after = self.offset - self.limit, self.offset + self.limit
        has_more = len(rows) > self.limit and after <= MOST_OFFSET
        return Ways(
            _at(max(before, 0)) if self.offset else None,
            _at(after) if has_more else None,
            self.offset + 1,
            self.offset + len(self.shown(rows)),
        )


def _at(offset: int) -> str:
    """The same page otherwise: what was searched for goes along."""
    asked: MultiDict[str, str] = MultiDict(request.args)
    asked["offset"] = str(offset)
    values = {**asked.to_dict(flat=False), **(request.view_args or {})}
    return to(f".{(request.endpoint or '').rpartition('.')[2]}", **values)
