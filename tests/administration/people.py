"""An administrator at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.testing.client import Answer, Api

from ..conftest import Person

ACCOUNTS = "/admin/accounts"


@dataclass
class Desk:
    """Where somebody looks after others."""

    api: Api

    def path(self, person: Person, deed: str = "") -> str:
        return f"{ACCOUNTS}/{person.id}{deed}"

    def change(self, person: Person, expected: int = 200, /, **fields: Any) -> Answer:
        return self.api.patch(self.path(person), expected, json=fields)

    def do(self, deed: str, person: Person, status: int = 200) -> Answer:
        return self.api.post(self.path(person, f"/{deed}"), status)

    def read(self, person: Person) -> Any:
        return self.api.get(self.path(person)).json

    def make(self, email: str, expected: int = 201, /, **fields: Any) -> Answer:
        return self.api.post(ACCOUNTS, expected, json={"email": email, **fields})


def log_in(person: Person, status: int = 200, password: str = "") -> Answer:
    form = {"username": person.email, "password": password or person.password}
    return Api(person.app).post("/login", status, data=form)
