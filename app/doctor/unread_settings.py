"""Settings that are set and that nothing reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flask import Flask

from ..core.config.environment import MISSPELT, closest, variables
from ..core.config.settings import reveal
from ..extension.settings import NAMESPACES, ComposedSettings
from ..extension.sources import CONFIG, FAMILIES, PREFIX, TOP_LEVEL

FLASK_MAIL_ONLY = ("MAIL_ASCII_ATTACHMENTS", "MAIL_DEBUG", "MAIL_MAX_EMAILS")


def unread_names(app: Flask, *, is_service: bool) -> Iterator[str]:
    """Names that are set and that nothing reads, each in a sentence with the name to use."""
    given = variables(ComposedSettings)
    yield from _misspelt(sorted({*given, *map(str, app.config)}))
    prefixed = sorted(name for name in given if name.startswith(PREFIX))
    if is_service:
        for name in prefixed:
            plain = name.removeprefix(PREFIX)
            if plain in TOP_LEVEL or plain.partition("__")[0] in NAMESPACES:
                yield f"{name} is not read by the service: write {plain}"
        return
    ours = app.config.get(CONFIG) or {}
    for name in TOP_LEVEL:
        if not name.startswith("MAIL_") or name not in app.config:
            continue
        places = {
            PREFIX + name: given.get(PREFIX + name),
            f'app.config["{CONFIG}"]["{name}"]': ours.get(name),
        }
        for where, value in places.items():
            if value is not None and _text(value) != _text(app.config[name]):
                yield f'{where} is not read, because app.config["{name}"] is set: remove one'


def _misspelt(names: Iterable[str]) -> Iterator[str]:
    known = (*TOP_LEVEL, *FLASK_MAIL_ONLY)
    for name in names:
        is_unknown = name.startswith(FAMILIES) and name not in known
        if is_unknown and (better := closest(name, TOP_LEVEL, likeness=MISSPELT)):
            yield f"{name}: there is no such setting, do you mean {better}?"


def _text(value: object) -> str:
    """A variable is text, and Flask's configuration has numbers and booleans."""
    return str(reveal(value)).lower()
