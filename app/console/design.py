"""The page that shows all components of the design system, for developers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from flask import Response, current_app

from ..core.context import find_context
from ..core.errors import NotFound
from ..core.web.operation import anyone
from .pages import render_page

# Email, name, role, status with its kind, and the time since the last sign-in.
_PEOPLE = (
    ("ada@example.com", "Ada Lovelace", "admin", "active", "good", timedelta(minutes=4)),
    ("grace@example.com", "Grace Hopper", "user", "suspended", "bad", timedelta(hours=5)),
    ("a.long.address@department.example.org", "", "user", "unconfirmed", "warn", timedelta(40)),
)

_ERRORS = {"email": "Enter a valid email address.", "password": "This password is easily guessed."}


@anyone
def design() -> Response:
    # Tests take screenshots of this page.
    if not (current_app.debug or current_app.testing):
        raise NotFound
    now = find_context().clock.now()
    return render_page(
        "design.html",
        filled=SampleForm({}),
        rejected=SampleForm(_ERRORS),
        people=[(*person[:-1], now - person[-1]) for person in _PEOPLE],
        days=[(f"{day} Mar", 20 + day * 37 % 50, day * 5 % 9) for day in range(1, 15)],
    )


@dataclass(frozen=True)
class SampleForm:
    """The state of a form with sample values and errors."""

    errors: dict[str, str]

    def value(self, _name: str, default: object = "") -> object:
        return default

    def values(self, _name: str, default: Iterable[object] = ()) -> list[object]:
        return list(default)

    def error(self, name: str) -> str | None:
        return self.errors.get(name)
