"""`make audit-log`: writes the tables of actions in the documentation.

docs/audit-log.md lists the actions of the audit log. docs/security/logging.md describes each event
by the titles of its actions; its column of further fields is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.core.actions import Action
from app.extension.actions import ACTIONS, DECLARED

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "audit-log.md"
LOGGING = DOCS / "security" / "logging.md"
_TABLE = re.compile(r"(?<=\| type \| title \| `data` \|\n\|---\|---\|---\|\n).*?(?=\n\n)", re.S)
_EVENTS = re.compile(
    r"(?<=\| event \| actions \| further fields \|\n\|---\|---\|---\|\n).*?(?=\n\n)", re.S
)


def rewritten(text: str) -> str:
    """Return the page with a table of actions and a table of rejected requests."""
    completed = [each for each in ACTIONS.values() if not each.rejection_events]
    tables = iter((completed, [each for each in ACTIONS.values() if each.rejection_events]))
    return _TABLE.sub(lambda _: "\n".join(_rows(next(tables))), text)


def log_events() -> Mapping[str, str]:
    """Return each event of the security log with the titles of its actions."""
    titles: dict[str, list[str]] = {}
    for each in DECLARED:
        for event in filter(None, (each.log_event, *each.rejection_events)):
            titles.setdefault(event, []).append(each.title)
    return {event: "; ".join(found) for event, found in titles.items()}


def with_log_events(text: str) -> str:
    found = _EVENTS.search(text)
    assert found is not None
    cells = (row.split("|") for row in found[0].splitlines())
    fields = {cell[1].strip(" `"): cell[3].strip() for cell in cells}
    rows = (
        f"| `{event}` | {titles} | {fields.get(event, '')} |"
        for event, titles in log_events().items()
    )
    return text.replace(found[0], "\n".join(rows))


def _rows(actions: Iterable[Action]) -> Iterable[str]:
    for each in actions:
        data = "; ".join(f"`{name}`: {description}" for name, description in each.data.items())
        yield f"| `{each.name}` | {each.title} | {data} |"


def main() -> None:
    PAGE.write_text(rewritten(PAGE.read_text()))
    LOGGING.write_text(with_log_events(LOGGING.read_text()))


if __name__ == "__main__":
    main()
