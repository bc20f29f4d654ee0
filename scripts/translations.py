"""Checks the translations: each has every text, without doubt, with the values of the original."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from app.core.translations import BUILT_IN

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_MARKUP = re.compile(r"</?[a-zA-Z][^>]*>|&#?\w+;")
# A plural form for exactly one number, such as "one message", may leave the number out.
_COUNT = "{n}"


def shipped(folder: Path = BUILT_IN) -> list[Path]:
    return sorted(folder.glob("*/LC_MESSAGES/*.po"))


def languages(folder: Path = BUILT_IN) -> list[str]:
    return sorted({path.parts[-3] for path in shipped(folder)})


def errors(po: bytes, template: bytes, language: str) -> list[str]:
    """Return what is wrong with a translation, one line for each text."""
    catalog = read_po(BytesIO(po), locale=language)
    found = []
    known = set()
    for original in read_po(BytesIO(template)):
        if not original.id:
            continue
        known.add((original.id, original.context))
        message = catalog.get(original.id, original.context)
        for error in _errors_of(message, original, catalog):
            found.append(f"{error}: {_shown(original)}")
    unknown = [each for each in catalog if each.id and (each.id, each.context) not in known]
    return [*found, *(f"not in the template, run `make texts`: {_shown(each)}" for each in unknown)]


def _errors_of(message: Message | None, original: Message, catalog: Catalog) -> Iterator[str]:
    if message is None:
        yield "missing, run `make texts`"
        return
    text = message.string or ""
    forms = [text] if isinstance(text, str) else list(text)
    if not all(forms):
        yield "not translated"
        return
    if message.fuzzy:
        yield "fuzzy"
    is_plural = not isinstance(original.id, str)
    if is_plural and len(forms) != catalog.num_plurals:
        yield f"{len(forms)} plural forms instead of {catalog.num_plurals}"
    expected = original.id if isinstance(original.id, str) else original.id[-1]
    for form in forms:
        names, wanted = sorted(_PLACEHOLDER.findall(form)), sorted(_PLACEHOLDER.findall(expected))
        if is_plural:
            names, wanted = ([each for each in some if each != _COUNT] for some in (names, wanted))
        if set(names) != set(wanted):
            yield f"has {' '.join(names) or 'no values'} instead of {' '.join(wanted) or 'none'}"
        if sorted(_MARKUP.findall(form)) != sorted(_MARKUP.findall(expected)):
            yield "has other markup"
        if _ends(form) != _ends(expected):
            yield "has other spaces at its ends"
    if is_plural and all(_COUNT not in form for form in forms):
        yield f"has no form with {_COUNT}"


def _ends(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()


def _shown(message: Message) -> str:
    text = message.id if isinstance(message.id, str) else message.id[-1]
    return f"{message.context}: {text!r}" if message.context else repr(text)
