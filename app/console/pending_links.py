"""A link between an account and a user of a provider that the owner has not confirmed yet.

The browser's session has it while the owner signs in by an earlier method; no URL has it.
"""

from __future__ import annotations

from typing import NamedTuple

from flask import session

from ..core.context import find_context
from .links import local_path
from .providers import provider_title

_KEY = "frontdesk_console_link"
SECONDS = 600


class PendingLink(NamedTuple):
    """The empty values belong to no link, or to an expired one."""

    provider: str = ""
    token: str = ""
    # The page to open afterwards.
    next: str = ""
    until: float = 0

    @classmethod
    def store(cls, provider: str, token: str, next_page: str) -> None:
        session[_KEY] = [*cls(provider, token, next_page, _now() + SECONDS)]

    @classmethod
    def find(cls) -> PendingLink:
        found = cls(*session.get(_KEY, ()))
        return found._replace(next=local_path(found.next)) if found.until > _now() else cls()

    @property
    def title(self) -> str:
        return provider_title(self.provider)

    @staticmethod
    def delete() -> None:
        session.pop(_KEY, None)


def _now() -> float:
    return find_context().clock.now().timestamp()
