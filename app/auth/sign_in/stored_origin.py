"""The stored form of an IP address and a user agent, for lists of sessions."""

from __future__ import annotations

import ipaddress

USER_AGENT_LENGTH = 255


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
