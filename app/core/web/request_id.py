from __future__ import annotations

import os
import re
import secrets
from itertools import count

from flask import request

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
# With the process and a count it is unique, and costs no system call for random bytes.
_START = secrets.token_hex(6)
_COUNTER = count(1)
_KEY = "frontdesk.request_id"


def request_id() -> str:
    """The caller's id where it sends a sane one, else a new one; the same for the whole request."""
    found: str | None = request.environ.get(_KEY)
    if found is None:
        sent = request.environ.get("HTTP_X_REQUEST_ID", "")
        found = sent if _SANE.fullmatch(sent) else new_request_id()
        request.environ[_KEY] = found
    return found


def new_request_id() -> str:
    return f"{_START}-{os.getpid():x}-{next(_COUNTER):x}"
