"""The formats of files with accounts: one reader for each format yields the rows."""

from collections.abc import Callable, Iterator
from typing import TextIO

from ..account import Row
from . import firebase, frameworks, frontdesk, services

Reader = Callable[[TextIO], Iterator[Row]]

READERS: dict[str, Reader] = {
    "frontdesk": frontdesk.read,
    "flask-security": frameworks.read_flask_security,
    "django": frameworks.read_django,
    "fastapi-users": frameworks.read_fastapi_users,
    "auth0": services.read_auth0,
    "gotrue": services.read_gotrue,
    "keycloak": services.read_keycloak,
    "firebase": firebase.read,
}
