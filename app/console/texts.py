"""Texts of the pages and of their errors, in the reader's language."""

import re
from datetime import date, datetime
from functools import cache, lru_cache
from gettext import NullTranslations
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import current_app, request
from markupsafe import Markup, escape

from ..auth.caller import known_caller
from ..core.context import current_frontdesk
from ..core.request import requested_languages
from ..core.translations import (
    DAY,
    ENGLISH,
    MONTHS,
    isolated,
    language_tag,
    load_catalog,
    select_language,
    translation_folders,
)
from ..core.translations import available_languages as languages
from ..core.translations import direction as direction_of
from ..core.translations import mark as mark
from ..core.types import JsonObject

DOMAIN = "console"
_LANGUAGE = "frontdesk_language"


def _(text: str, **values: object) -> Markup:
    """Return a text in the reader's language, with the values escaped."""
    return _format(_translate(_catalogue(), text), values)


# By type too, because markup is not escaped. Limited, because names of the application's statuses
# and channels are texts too.
@lru_cache(maxsize=5_000, typed=True)
def _translate(catalog: NullTranslations, text: str) -> Markup:
    # A catalog has its header as the translation of an empty text.
    return escape(catalog.gettext(text) if text else "")


def _p(context: str, text: str, **values: object) -> Markup:
    """Return a text that has several meanings or forms in other languages; the context says which
    one."""
    return _format(_catalogue().pgettext(context, text), values)


def capitalize(text: Markup) -> Markup:
    return text[:1].upper() + text[1:]


def device_name(label: str | None) -> str:
    """Return the label of a device, such as "Firefox on Linux", in the reader's language. It is
    empty for an unknown device."""
    program, _on, system = (label or "").partition(" on ")
    if not system:
        return program
    return _("{program} on {system}", program=program, system=system).unescape()


def _n(one: str, many: str, n: int, **values: object) -> Markup:
    return _format(_catalogue().ngettext(one, many, n), {"n": number(n), **values})


def number(value: int) -> str:
    """Format an integer with the separator of the reader's language between the thousands."""
    if value < 1000:
        return str(value)
    # Translators write this number as in their language.
    return f"{value:,}".replace(",", _separator(_catalogue().gettext(mark("1,000"))))


@cache
def _separator(example: str) -> str:
    found = re.fullmatch(r"\D*1(\D*)000\D*", example)
    return found[1] if found else ","


DAY_AND_TIME = mark("{date}, {time}")


def format_day(day: date) -> str:
    return _write_day(_catalogue(), language(), day.year, day.month, day.day)


@lru_cache(maxsize=1_000)
def _write_day(catalog: NullTranslations, name: str, year: int, month: int, day: int) -> Markup:
    values = {"day": day, "month": _translate(catalog, MONTHS[month - 1]), "year": year}
    return _translate(catalog, DAY).format(**isolated(values, name))


def format_day_of_year(day: date) -> str:
    return _("{day} {month}", day=day.day, month=_(MONTHS[day.month - 1]))


def format_time(at: datetime) -> str:
    """Format a time of the reader's time zone, with its day."""
    return _(DAY_AND_TIME, date=format_day(at), time=at.strftime("%H:%M"))


def language() -> str:
    """Return the language of the current page, such as `de` or `pt_BR`."""
    try:
        found: str | None = getattr(request, _LANGUAGE, None)
    except RuntimeError:
        # Outside of a request.
        return ENGLISH
    if found is None:
        caller = known_caller()
        return use_language(getattr(caller.account, "locale", None) if caller else None)
    return found


def use_language(chosen: str | None) -> str:
    """Write the texts of this request in the account's language, otherwise in the browser's,
    otherwise in the default. Return it."""
    default = current_frontdesk.settings.core.LANGUAGE
    found = select_language(available_languages(), [chosen, *requested_languages(), default])
    setattr(request, _LANGUAGE, found)
    return found


def tag() -> str:
    """Return the language for the attribute `lang` of the page."""
    return language_tag(language())


def direction() -> str:
    return direction_of(language())


def available_languages() -> frozenset[str]:
    return languages(DOMAIN, _folders())


def _folders() -> tuple[Path, ...]:
    return translation_folders(current_app.root_path)


def _catalogue() -> NullTranslations:
    name = language()
    return _NONE if name == ENGLISH else load_catalog(DOMAIN, name, _folders())


_NONE = NullTranslations()


def _format(text: str, values: JsonObject) -> Markup:
    marked = escape(text)
    return marked.format(**isolated(values, language())) if values else marked


def zone_of(account: object) -> ZoneInfo | None:
    """Return the time zone of an account, if it is set and known."""
    return find_zone(getattr(account, "time_zone", None))


def find_zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Of a folder such as `Europe`, an OSError.
        return None
