"""Test helper: a workspace with an owner, Olga, who invites others."""

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
    owner: Api
    mails: MailOutbox
    path: str = "/workspaces/team/invitations"

    def invite(self, *emails: str, **more: Any) -> Any:
        return self.owner.post(self.path, 201, json={"emails": emails, **more}).json

    def secret(self, email: str) -> str:
        """Return the token of the newest email to the address."""
        found = re.search(r"token=(\S+)", self.mails.last(email).text)
        assert found
        return found[1]

    def admit(self, person: Person, kind: str = "member", status: str = "active") -> Api:
        """Add a member without an invitation, as an operator does."""
        with self.olga.app.app_context():
            team = service(Workspaces).get("team")
            service(Members).put(team, person.email, kind, status)
        return person.api()

    def refresh(self) -> None:
        """Sign Olga in again after her token expired."""
        self.owner = self.olga.api()


def make_team(person: Callable[[str], Person], mails: MailOutbox) -> Team:
    olga = person("olga")
    owner = olga.api()
    owner.post("/workspaces", json={"name": "Team", "slug": "team"})
    return Team(olga, owner, mails)
