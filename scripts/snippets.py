"""Copies code into the documentation from files that tests run.

A fenced block with the first line `# examples/…/file.py` (and `region` after it) has the code of
that file, or its lines between `# [region]` and `# [end]`. In README.md the line is a comment
above the block, because it is read as it is. `make snippets` updates the blocks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[1]
_SOURCE = r"(?P<file>(?:examples|tests)/\S+)(?: (?P<region>[\w-]+))?"
_BLOCKS = tuple(
    re.compile(rf"^(?P<open>{opening})(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
    for opening in (rf"```\w+\n(?:#|//) {_SOURCE}\n", rf"<!-- {_SOURCE} -->\n```\w+\n")
)
_MARK = re.compile(r"^[ ]*(?:#|//) \[[\w-]+\]\n", re.MULTILINE)


def pages() -> Iterator[Path]:
    yield from sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def rewritten(page: str) -> str:
    for block in _BLOCKS:
        page = block.sub(lambda found: f"{found['open']}{_code(found)}```", page)
    return page


def _code(found: re.Match[str]) -> str:
    text = (ROOT / found["file"]).read_text()
    if found["region"] is None:
        return re.sub(r"\n{4,}", "\n\n\n", _MARK.sub("", text)).rstrip("\n") + "\n"
    inside = re.search(
        rf"^[ ]*(?:#|//) \[{re.escape(found['region'])}\]\n(.*?)^[ ]*(?:#|//) \[end\]$",
        text,
        re.M | re.S,
    )
    if inside is None:
        raise LookupError(f"{found['file']} has no region [{found['region']}]")
    return dedent(inside[1]).strip("\n") + "\n"


def main() -> int:
    for page in pages():
        text = page.read_text()
        if (new := rewritten(text)) != text:
            page.write_text(new)
            sys.stdout.write(f"{page.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
