"""Copies code into the documentation from files that tests run.

A fenced block with the first line `# examples/…/file.py` (and `region` after it) has the code of
that file, or its lines between `# [region]` and `# [end]`. `make snippets` updates the blocks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(
    r"^(?P<open>```\w+\n(?:#|//) (?P<file>(?:examples|tests)/\S+)(?: (?P<region>[\w-]+))?\n)"
    r"(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"^[ ]*(?:#|//) \[[\w-]+\]\n", re.MULTILINE)


def pages() -> Iterator[Path]:
    yield from sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def rewritten(page: str) -> str:
    return _BLOCK.sub(lambda found: f"{found['open']}{_code(found)}```", page)


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
