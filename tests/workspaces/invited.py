"""A workspace whose owner, Olga, invites others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.core.context import service
from app.testing.client import Api
from app.testing.outbox import MailOutbox
from app.testing.people import Person
from app.workspaces.members import Members
from app.workspaces.service import Workspaces


@dataclass
class Team:
    olga: Person
    boss: Api
    mails: MailOutbox
    path: str = "/workspaces/team/invitations"

    def invite(self, *emails: str, **more: Any) -> Any:
        return self.boss.post(self.path, 201, json={"emails": emails, **more}).json

    def secret(self, email: str) -> str:
        """The token of the newest mail to this address."""
        found = re.search(r"token=(\S+)", self.mails.last(email).text)
        assert found
        return found[1]

    def admit(self, person: Person, kind: str = "member", status: str = "active") -> Api:
        """As an operator does, without asking."""
        with self.olga.app.app_context():
            team = service(Workspaces).get("team")
            service(Members).put(team, person.email, kind, status)
        return person.api()

    def refresh(self) -> None:
        """Olga signs in again, her token being over."""
        self.boss = self.olga.api()


def make_team(person: Callable[[str], Person], mails: MailOutbox) -> Team:
    olga = person("olga")
    boss = olga.api()
    boss.post("/workspaces", json={"name": "Team", "slug": "team"})
    return Team(olga, boss, mails)
