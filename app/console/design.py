"""The page that shows what pages are made of: the design system, while one develops."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Response, current_app

from ..core.context import find_context
from ..core.errors import NotFound
from ..core.web.operation import anyone, hidden
from .pages import page

# E-mail, name, role, status and its kind, and how long ago they were here.
_PEOPLE = (
    ("ada@example.com", "Ada Lovelace", "admin", "active", "good", timedelta(minutes=4)),
    ("grace@example.com", "Grace Hopper", "user", "suspended", "bad", timedelta(hours=5)),
    ("a.long.address@department.example.org", "", "user", "unconfirmed", "warn", timedelta(40)),
)


@anyone
@hidden
def design() -> Response:
    # Tests take its picture.
    if not (current_app.debug or current_app.testing):
        raise NotFound
    now = find_context().clock.now()
    return page(
        "design.html",
        filled=ShownForm({}),
        refused=ShownForm({"email": "This is not an address.", "password": "Is easily guessed."}),
        people=[(*person[:-1], now - person[-1]) for person in _PEOPLE],
        days=[(f"{day} Mar", 20 + day * 37 % 50, day * 5 % 9) for day in range(1, 15)],
    )


@dataclass(frozen=True)
class ShownForm:
    """A form as its fields ask for it, with faults that nobody made."""

    faults: dict[str, str]

    def value(self, _name: str, default: object = "") -> Any:
        return default

    def values(self, _name: str, default: Iterable[Any] = ()) -> list[Any]:
        return list(default)

    def error(self, name: str) -> str | None:
        return self.faults.get(name)
