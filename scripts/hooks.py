"""`make hooks`: writes the tables in docs/hooks/ from the code that decides them.

The table of a hook comes from its docstring (`app/extension/hooks.py`), the table of a signal from
its declaration (a package's `actions.py`). The example below the table stays as it is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from app.core.actions import Signal
from app.core.hooks import Hook, NamedHook
from app.extension.actions import SIGNALS
from app.extension.hooks import HOOKS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "hooks"
_FIELD = re.compile(r"^(?P<name>[A-Z][a-z ]+): (?P<text>.*?)(?=^[A-Z][a-z ]+: |\Z)", re.M | re.S)
_INDEX_ROWS = re.compile(r"(?<=\|---\|---\|---\|\n).*?(?=\n\n)", re.S)
_TABLE = re.compile(r"\A# .*?\n\n\| \| \|\n.*?(?=\n\n)", re.S)


class Page(NamedTuple):
    file: str
    title: str
    name: str
    rows: dict[str, str]

    @property
    def head(self) -> str:
        rows = {"name": f"`{self.name}`", **self.rows}
        lines = [f"| {name} | {text} |" for name, text in rows.items()]
        return "\n".join([f"# {self.title}", "", "| | |", "|---|---|", *lines])


def pages() -> Iterator[Page]:
    yield from map(_of_hook, HOOKS.values())
    yield from map(_of_signal, SIGNALS.values())


def _of_hook(hook: Hook[Any]) -> Page:
    title, _, rest = inspect.cleandoc(hook.default.__doc__ or "").partition("\n")
    named = "(name)" if isinstance(hook, NamedHook) else ""
    found = {each["name"].lower(): " ".join(each["text"].split()) for each in _FIELD.finditer(rest)}
    receives = "keywords " if hook.by_name else ""
    receives += ", ".join(f"`{each.name}`" for each in hook.parameters)
    rows = {"moment": found.pop("moment"), "receives": receives, **found}
    return Page(f"{hook.name.replace('_', '-')}.md", title, f"@frontdesk.{hook.name}{named}", rows)


def _of_signal(signal: Signal) -> Page:
    rows = {
        "moment": signal.moment,
        "receives": f"{signal.subject}; options with `session` and `origin`",
        "returns": signal.returns,
    }
    return Page(
        f"{signal.name}.md", f"Event: {signal.name}", f'@frontdesk.on("{signal.name}")', rows
    )


def rewritten(path: Path, page: Page) -> str:
    return _TABLE.sub(lambda _: page.head, path.read_text(), count=1)


def index(text: str) -> str:
    """The table of the README: ours, then the two that are no hook and no event."""
    ours = [
        f"| [{page.title}]({page.file}) | `{page.name}` | {page.rows['moment']} |"
        for page in pages()
    ]
    files = {page.file for page in pages()}
    rows = _INDEX_ROWS.search(text)
    assert rows is not None
    others = [row for row in rows[0].split("\n") if not any(f"({file})" in row for file in files)]
    return text.replace(rows[0], "\n".join([*ours, *others]))


def main() -> None:
    for page in pages():
        path = FOLDER / page.file
        path.write_text(rewritten(path, page))
    readme = FOLDER / "README.md"
    readme.write_text(index(readme.read_text()))


if __name__ == "__main__":
    main()
