"""A name for a device, so that its owner knows it again: what it says of itself, and no more.

A client may send whatever it likes. Versions are left out: nobody knows theirs, and they change.
"""

from __future__ import annotations

import ipaddress
import re

USER_AGENT_LENGTH = 255

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


def kept_address(address: str | None, how: str) -> str | None:
    """`full`, its `network` (the /24, or the /48 of IPv6), or `none`."""
    if not address or how == "none":
        return None
    return address if how == "full" else _network(address)


def kept_user_agent(text: str | None) -> str | None:
    """A client, or a proxy, may say anything."""
    return text[:USER_AGENT_LENGTH].replace("\x00", "") if text else None


def _network(address: str) -> str | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    width = 24 if found.version == 4 else 48
    return str(ipaddress.ip_network((found, width), strict=False))
