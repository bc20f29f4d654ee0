from __future__ import annotations

import os
import re
import secrets
from itertools import count
from typing import Any

from flask import Request, request

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
# With the process and a count it is unique, and costs no system call for random bytes.
_START = secrets.token_hex(6)
_COUNTER = count(1)
_KEY = "frontdesk.request_id"
_request: Any = request


def request_itself() -> Request:
    """The request behind Flask's proxy: each look through that one costs as much as a dict's."""
    found: Request = _request._get_current_object()
    return found


def request_id(asked: Request | None = None) -> str:
    """The caller's id where it sends a sane one, else a new one; the same for the whole request."""
    environ = (asked or request).environ
    found: str | None = environ.get(_KEY)
    if found is None:
        sent = environ.get("HTTP_X_REQUEST_ID")
        found = sent if sent is not None and _SANE.fullmatch(sent) else new_request_id()
        environ[_KEY] = found
    return found


def new_request_id() -> str:
    return f"{_START}-{os.getpid():x}-{next(_COUNTER):x}"
