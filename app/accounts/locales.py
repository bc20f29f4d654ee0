"""Validates and normalizes languages and time zones."""

import re
from functools import cache

# A langtag of RFC 5646, without extensions and private use.
_VARIANT = "[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}"
LOCALE = rf"^[A-Za-z]{{2,3}}(-[A-Za-z]{{4}})?(-([A-Za-z]{{2}}|[0-9]{{3}}))?(-({_VARIANT}))*$"

_LOCALE = re.compile(LOCALE.strip("^$"), re.ASCII)
# The server's time zone, and the name of an unknown one.
_NOWHERE = {"localtime", "Factory"}


def locale_of(text: str) -> str | None:
    """Return a language tag in its usual case, or None for an invalid one."""
    if not _LOCALE.fullmatch(text):
        return None
    language, *others = text.split("-")
    return "-".join([language.lower(), *map(_written, others)])


def _written(part: str) -> str:
    match len(part):
        case 2:
            return part.upper()
        case 4 if part.isalpha():
            return part.title()
    return part.lower()


@cache
def time_zones() -> frozenset[str]:
    """Return the time zones, read at first use: the list takes some hundred files."""
    from zoneinfo import available_timezones

    return frozenset({"UTC"} | available_timezones() - _NOWHERE)
