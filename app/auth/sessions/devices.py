"""Labels of devices, from the user agent, by which users recognize their sessions.

Clients may send any user agent. Versions are left out: users do not know them, and they change.
"""

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
# The first product, as in `curl/8.5` or `Library-App/2.1 (iPhone; …)`.
_PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9._-]{0,39})/[0-9]", re.ASCII)
# The first product of every browser.
_BROWSER_PRODUCT = "Mozilla"


def label_of(user_agent: str | None) -> str | None:
    """Return a label such as "Firefox on Linux", or None for an unknown user agent."""
    if not user_agent:
        return None
    program, system = _program(user_agent), _first(_SYSTEMS, user_agent)
    if program and system:
        return f"{program} on {system}"
    return program or system


def _program(user_agent: str) -> str | None:
    product = _PRODUCT.match(user_agent)
    if product is None or product[1] == _BROWSER_PRODUCT:
        return _first(_BROWSERS, user_agent)
    return product[1]


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((shown for sign, shown in names if sign in user_agent), None)


def stored_ip_address(ip_address: str | None, mode: str) -> str | None:
    """Return the IP address to store: in full, its `network` (/24, IPv6: /48), or None."""
    if not ip_address or mode == "none":
        return None
    return ip_address if mode == "full" else _network(ip_address)


def stored_user_agent(text: str | None) -> str | None:
    """Return the user agent to store: shortened, without characters that databases reject."""
    return text[:USER_AGENT_LENGTH].replace("\x00", "") if text else None


def _network(ip_address: str) -> str | None:
    try:
        found = ipaddress.ip_address(ip_address)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    width = 24 if found.version == 4 else 48
    return str(ipaddress.ip_network((found, width), strict=False))
