"""`make hooks`: writes the tables in docs/hooks.md and docs/signals.md from the code.

The table of a hook comes from its docstring (`app/extension/hooks.py`), the table of a signal from
its declaration (a package's `actions.py`). The text and the example below a table are not changed.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

from app.core.actions import Signal
from app.core.hooks import Hook, NamedHook
from app.extension.actions import SIGNALS
from app.extension.hooks import HOOKS

DOCS = Path(__file__).resolve().parents[1] / "docs"
_FIELD = re.compile(r"^(?P<name>[A-Z][a-z ]+): (?P<text>.*?)(?=^[A-Z][a-z ]+: |\Z)", re.M | re.S)
# The list of all entries, and the table at the start of an entry's section.
_INDEX = re.compile(r"(?<=^\|---\|---\|\n)\| \[`.*?(?=\n\n)", re.M | re.S)
_SECTION = re.compile(
    r"^## (?P<name>[\w-]+)\n\n(?:[^\n]+\n\n)?\| \| \|\n.*?(?=\n\n)(?P<example>.*?)(?=^## |\Z)",
    re.MULTILINE | re.DOTALL,
)


class Entry(NamedTuple):
    """A hook or a signal with its row in the list of the page, and the rows of its table."""

    name: str
    summary: str
    rows: dict[str, str]
    introduction: str = ""

    @property
    def head(self) -> str:
        lines = [f"| {name} | {text} |" for name, text in self.rows.items()]
        return self.introduction + "\n".join(["| | |", "|---|---|", *lines])

    @property
    def index_row(self) -> str:
        return f"| [`{self.name}`](#{self.name}) | {self.summary} |"


def entries() -> dict[Path, list[Entry]]:
    """Return the entries of each page."""
    return {
        DOCS / "hooks.md": [_of_hook(each) for each in HOOKS.values()],
        DOCS / "signals.md": [_of_signal(each) for each in SIGNALS.values()],
    }


def _of_hook(hook: Hook[Any]) -> Entry:
    summary, _, rest = inspect.cleandoc(hook.default.__doc__ or "").partition("\n")
    named = "(name)" if isinstance(hook, NamedHook) else ""
    found = {each["name"].lower(): " ".join(each["text"].split()) for each in _FIELD.finditer(rest)}
    arguments = "keywords " if hook.by_name else ""
    arguments += ", ".join(f"`{each.name}`" for each in hook.parameters)
    rows = {
        "register with": f"`@frontdesk.{hook.name}{named}`",
        "called": found.pop("called"),
        "arguments": arguments,
    }
    return Entry(hook.name, summary, rows | found, introduction=f"{summary}.\n\n")


def _of_signal(signal: Signal) -> Entry:
    rows = {
        "register with": f'`@frontdesk.on("{signal.name}")`',
        "emitted": signal.moment,
        "arguments": f"{signal.subject}; a dict of options with `session` and `origin`",
        "returns": signal.returns,
    }
    return Entry(signal.name, signal.moment, rows)


def rewritten(text: str, listed: list[Entry]) -> str:
    """Return a page with the list and the tables of these entries."""
    by_name = {each.name: each for each in listed}
    text = _INDEX.sub(lambda _: "\n".join(each.index_row for each in listed), text, count=1)
    return _SECTION.sub(
        lambda found: f"## {found['name']}\n\n{by_name[found['name']].head}{found['example']}", text
    )


def examples(text: str) -> dict[str, str]:
    """Return the text below the table of each section, in the order of the page."""
    return {found["name"]: found["example"] for found in _SECTION.finditer(text)}


def main() -> None:
    for page, listed in entries().items():
        page.write_text(rewritten(page.read_text(), listed))


if __name__ == "__main__":
    main()
