"""Checks the translations: which texts they lack, and which differ from the English text in values,
markup or plural forms."""

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


def incomplete(po: bytes, template: bytes, language: str) -> list[str]:
    """Return the texts that a translation lacks, one line for each: they are shown in English."""
    catalog = read_po(BytesIO(po), locale=language)
    found = []
    known = set()
    for original in read_po(BytesIO(template)):
        if not original.id:
            continue
        known.add((original.id, original.context))
        message = catalog.get(original.id, original.context)
        if message is None:
            found.append(f"missing, run `make texts`: {_shown(original)}")
        elif not all(_forms(message)):
            found.append(f"not translated: {_shown(original)}")
        elif message.fuzzy:
            found.append(f"fuzzy: {_shown(original)}")
    unknown = [each for each in catalog if each.id and (each.id, each.context) not in known]
    return [*found, *(f"not in the template, run `make texts`: {_shown(each)}" for each in unknown)]


def malformed(po: bytes, language: str) -> list[str]:
    """Return the translated texts that differ from the English text in more than the words."""
    catalog = read_po(BytesIO(po), locale=language)
    translated = [each for each in catalog if each.id and not each.fuzzy and all(_forms(each))]
    return [
        f"{error}: {_shown(each)}" for each in translated for error in _errors_of(each, catalog)
    ]


def _errors_of(message: Message, catalog: Catalog) -> Iterator[str]:
    forms = _forms(message)
    is_plural = not isinstance(message.id, str)
    if is_plural and len(forms) != catalog.num_plurals:
        yield f"{len(forms)} plural forms instead of {catalog.num_plurals}"
    expected = message.id if isinstance(message.id, str) else message.id[-1]
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


def _forms(message: Message) -> list[str]:
    text = message.string or ""
    return [text] if isinstance(text, str) else list(text)


def _ends(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()


def _shown(message: Message) -> str:
    text = message.id if isinstance(message.id, str) else message.id[-1]
    return f"{message.context}: {text!r}" if message.context else repr(text)
