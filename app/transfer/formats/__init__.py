"""What files of accounts look like, one reader each: `read(stream)` yields them one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TextIO

from ..account import Row

Reader = Callable[[TextIO], Iterator[Row]]

FORMATS = (
    *("frontdesk", "flask-security", "django", "fastapi-users"),
    *("auth0", "gotrue", "keycloak", "firebase"),
)


def reader_of(name: str) -> Reader:
    module = import_module(f".{name.replace('-', '_')}", __name__)
    read: Reader = module.read
    return read
