"""Who sits at the machine itself, and may see what was written for others while developing."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import request

# A proxy or a tunnel in front brings strangers to this address.
_PASSED_ON = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


def is_near() -> bool:
    """By the machine's own name too: a strange name may lead to this address as well, and its pages
    would read what they are answered."""
    if any(name in request.headers for name in _PASSED_ON):
        return False
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname or ""
    except ValueError:
        return False
    return _is_loopback(request.remote_addr or "") and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
