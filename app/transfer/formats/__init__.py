"""The formats of files with accounts: how each is divided into rows, and read from a row."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TextIO

from ..account import ImportedAccount, Row
from . import firebase, frameworks, frontdesk, services
from .rows import Fields, Numbered, read_accounts, table, users

Reader = Callable[[TextIO], Iterator[Row]]


def _reader(
    divide: Callable[[TextIO], Iterator[Numbered]], read: Callable[[Fields], ImportedAccount]
) -> Reader:
    return lambda stream: read_accounts(divide(stream), read)


def firebase_reader(config: firebase.HashConfig | None) -> Reader:
    return _reader(users, partial(firebase.account, config=config))


READERS: dict[str, Reader] = {
    "frontdesk": _reader(table, frontdesk.account),
    "flask-security": _reader(table, frameworks.flask_security_account),
    "django": _reader(table, frameworks.django_account),
    "fastapi-users": _reader(table, frameworks.fastapi_users_account),
    "auth0": _reader(table, services.auth0_account),
    "gotrue": _reader(table, services.gotrue_account),
    "keycloak": _reader(users, services.keycloak_account),
    "firebase": firebase_reader(None),
}
