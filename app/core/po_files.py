"""Reads translations from `.po` files, so that a translation needs no compiler.

The text becomes a `.mo` file in memory, which `gettext` of the standard library reads.
"""

import re
import struct
from collections.abc import Iterator
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr)?(?:\[(\d+)\])?\s*"((?:[^"\\]|\\.)*)"\s*')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\(.)")
_FUZZY = "fuzzy"
_MAGIC = 0x950412DE

_Entry = dict[str, str]


def read_po(path: Path) -> GNUTranslations:
    return GNUTranslations(BytesIO(compile_po(path.read_text("utf-8"))))


def compile_po(text: str) -> bytes:
    """Return the `.mo` file of a `.po` file, without fuzzy and incomplete translations."""
    texts = {b"": b"Content-Type: text/plain; charset=UTF-8\n"}
    texts.update(pair for entry in _entries(text) if (pair := _translation(entry)) is not None)
    keys = sorted(texts)
    count, start = len(keys), 28
    offset = start + 16 * count
    tables: list[int] = []
    stored = b""
    for column in (keys, [texts[key] for key in keys]):
        for value in column:
            tables += [len(value), offset + len(stored)]
            stored += value + b"\0"
    header = struct.pack("<7I", _MAGIC, 0, count, start, start + 8 * count, 0, 0)
    return header + struct.pack(f"<{len(tables)}I", *tables) + stored


def _translation(entry: _Entry) -> tuple[bytes, bytes] | None:
    forms = [text for name, text in sorted(entry.items(), key=_form) if name.startswith("msgstr")]
    key = entry.get("msgid")
    # The header, without a text, is often marked as fuzzy.
    if key is None or not all(forms) or (_FUZZY in entry and key):
        return None
    if "msgctxt" in entry:
        key = f"{entry['msgctxt']}\x04{key}"
    if "msgid_plural" in entry:
        key = f"{key}\0{entry['msgid_plural']}"
    return key.encode(), "\0".join(forms).encode()


def _form(item: tuple[str, str]) -> int:
    """Return the number of a plural form, such as 11 for `msgstr[11]`."""
    return int("".join(filter(str.isdecimal, item[0])) or 0)


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the texts of each entry by their keywords, such as `msgid` and `msgstr[1]`."""
    entry: _Entry = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("#,") and "fuzzy" in line:
            # Flags precede the texts of their entry.
            yield entry
            entry = {_FUZZY: ""}
        elif found := _LINE.fullmatch(line):
            keyword, form, value = found.groups()
            if keyword in ("msgctxt", "msgid") and any(key.startswith("msgstr") for key in entry):
                yield entry
                entry = {}
            if keyword:
                name = f"{keyword}[{form}]" if form else keyword
            value = _ESCAPE.sub(lambda part: _ESCAPES.get(part[1], part[1]), value)
            entry[name] = entry.get(name, "") + value
    yield entry
