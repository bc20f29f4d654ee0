"""A name for a device, so that its owner knows it again: what it says of itself, and no more.

A client may send whatever it likes. Versions are left out: nobody knows theirs, and they change.
"""

from __future__ import annotations

import re

# A browser that imitates another one for old pages comes before the imitated one.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Mac OS X", "macOS"),
    ("Darwin", "macOS or iOS"),
    ("Linux", "Linux"),
    ("linux", "Linux"),
)
# `curl/8.5`, `Library-App/2.1 (iPhone; …)`: the product that comes first.
_PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9._-]{0,39})/[0-9]", re.ASCII)
# What all browsers say they are.
_EVERYBODY = "Mozilla"


def label_of(user_agent: str | None) -> str | None:
    """Such as "Firefox on Linux"; None where nothing of it is understood."""
    if not user_agent:
        return None
    program, system = _program(user_agent), _first(_SYSTEMS, user_agent)
    if program and system:
        return f"{program} on {system}"
    return program or system


def _program(user_agent: str) -> str | None:
    product = _PRODUCT.match(user_agent)
    if product is None or product[1] == _EVERYBODY:
        return _first(_BROWSERS, user_agent)
    return product[1]


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((shown for sign, shown in names if sign in user_agent), None)
