"""Reads guides: their fences, and the tabs "Your application" and "The service"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

from .servers import ROOT

DOCS = ROOT / "docs"
_INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
_TAB = re.compile(r"^:::\{tab-item\} [^\n]+\n:sync: (\w+)\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Fence:
    language: str
    code: str


def page(name: str, source: str = "") -> str:
    """Return the text of a page, or of another source for it, with the files that it includes."""
    path = DOCS / f"{name}.md"

    def included(found: re.Match[str]) -> str:
        return (path.parent / found[1]).read_text()

    return _INCLUDE.sub(included, source or path.read_text())


def page_names() -> list[str]:
    """Return the names of all pages, without the files that pages include."""
    paths = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    return sorted(path.with_suffix("").as_posix() for path in paths if path.parts[0] != "_includes")


def fences(text: str) -> list[Fence]:
    return [Fence(found[2], dedent(found[3])) for found in _FENCE.finditer(text)]


def tabs(text: str, key: str) -> list[str]:
    return [found[2] for found in _TAB.finditer(text) if found[1] == key]


def without_tabs(text: str) -> str:
    return _TAB.sub("", text)


def in_order(text: str, key: str, pages_commands: bool = False) -> Iterator[Fence]:
    """Return what a reader executes who follows the tabs with this key, and on some pages the
    commands outside of tabs too."""
    at = 0
    for tab in _TAB.finditer(text):
        if pages_commands:
            yield from (each for each in fences(text[at : tab.start()]) if each.language == "sh")
        if tab[1] == key:
            yield from (each for each in fences(tab[2]) if each.language in ("sh", "python"))
        at = tab.end()
    if pages_commands:
        yield from (each for each in fences(text[at:]) if each.language == "sh")


# Pages whose commands outside of tabs work as they stand.
WHOLE = ("account-self-service", "registration")


def script(steps: list[Fence]) -> str:
    """Return the steps as a shell script, in which `edit N` adds the Python code of step N."""
    lines = ["set -eu"]
    for number, step in enumerate(steps):
        lines.append(step.code if step.language == "sh" else f"edit {number}")
    return "\n".join(lines) + "\n"
