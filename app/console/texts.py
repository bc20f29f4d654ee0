"""The words of the pages, in the reader's language: English is written where it stands, and a
language is a file, `LANGUAGE/LC_MESSAGES/console.mo`, in our folder or in the host's
`translations`."""

from __future__ import annotations

from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Any

from flask import current_app, has_request_context, request
from markupsafe import Markup, escape

from ..auth.caller import known_caller

DOMAIN = "console"
OURS = Path(__file__).parent / "translations"
_LANGUAGE = "frontdesk_language"


def _(text: str, **values: Any) -> Markup:
    """A text in the reader's language; what is put into it is escaped."""
    return _filled(_catalogue().gettext(text), values)


def _n(one: str, many: str, n: int, **values: Any) -> Markup:
    return _filled(_catalogue().ngettext(one, many, n), {"n": n, **values})


def later(text: str) -> str:
    """Marks a text that is looked up where it is shown."""
    return text


def language() -> str:
    """That of the page that is being made."""
    if not has_request_context():
        return "en"
    found: str | None = getattr(request, _LANGUAGE, None)
    if found is None:
        found = _chosen()
        setattr(request, _LANGUAGE, found)
    return found


def _chosen() -> str:
    """The account's own, where its owner has said one; else the browser's."""
    there = languages(_folders())
    caller = known_caller()
    own = getattr(caller.account, "locale", None) if caller else None
    for wanted in filter(None, [own, *request.accept_languages.values()]):
        for name in (wanted.replace("-", "_"), wanted.partition("-")[0]):
            if name in there:
                return str(name)
    return "en"


@cache
def languages(folders: tuple[Path, ...]) -> frozenset[str]:
    found = (path for folder in folders for path in folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return frozenset(["en", *(path.parts[-3] for path in found)])


def _folders() -> tuple[Path, ...]:
    return Path(current_app.root_path) / "translations", OURS


def _catalogue() -> NullTranslations:
    name = language()
    return _NONE if name == "en" else _read(name, _folders())


_NONE = NullTranslations()


@cache
def _read(name: str, folders: tuple[Path, ...]) -> NullTranslations:
    """The host's words first, and ours for what they leave out."""
    read = _NONE
    for folder in reversed(folders):
        found = translation(DOMAIN, folder, [name], fallback=True)
        found.add_fallback(read)
        read = found
    return read


def _filled(text: str, values: dict[str, Any]) -> Markup:
    marked = escape(text)
    return marked.format(**values) if values else marked
