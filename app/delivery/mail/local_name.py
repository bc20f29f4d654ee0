"""The name that we greet a mail server with.

Many servers refuse whoever greets with a name that is not fully qualified, and a machine's own
name, above all a container's, seldom is.
"""

from __future__ import annotations

import re
from functools import cache
from socket import AF_INET6, getfqdn, gethostname, socket
from threading import Thread

# A name server that is away must not hold a letter back.
LOOKUP_SECONDS = 1.0

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_FULL = re.compile(rf"(?:{_LABEL}\.)+(?!\d+\Z|localdomain\Z){_LABEL}")


def local_name(chosen: str | None, sender_domain: str, connection: socket) -> str:
    """The chosen one, or else the machine's where it is fully qualified, or else the domain of the
    sender, or else the address that the server sees, unless somebody translates it."""
    name = chosen or _name_of_this_machine()
    if name:
        return name
    return sender_domain if _is_full(sender_domain) else _literal(connection)


@cache
def _name_of_this_machine() -> str | None:
    names = [gethostname()]
    if not _is_full(names[0]):
        asking = Thread(target=lambda: names.append(getfqdn()), daemon=True)
        asking.start()
        asking.join(LOOKUP_SECONDS)
    return names[-1] if _is_full(names[-1]) else None


def _is_full(name: str) -> bool:
    return len(name) <= 253 and _FULL.fullmatch(name) is not None


def _literal(connection: socket) -> str:
    address = connection.getsockname()[0]
    return f"[IPv6:{address}]" if connection.family == AF_INET6 else f"[{address}]"
