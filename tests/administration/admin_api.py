"""Test helper: the API of account management, called by an administrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.testing.client import Answer, Api

from ..conftest import Person

ACCOUNTS = "/admin/accounts"


@dataclass
class AdminApi:
    api: Api

    def path(self, person: Person, action: str = "") -> str:
        return f"{ACCOUNTS}/{person.id}{action}"

    def change(self, person: Person, expected: int = 200, /, **fields: Any) -> Answer:
        return self.api.patch(self.path(person), expected, json=fields)

    def do(self, action: str, person: Person, status: int = 200) -> Answer:
        return self.api.post(self.path(person, f"/{action}"), status)

    def read(self, person: Person) -> Any:
        return self.api.get(self.path(person)).json

    def create(self, email: str, expected: int = 201, /, **fields: Any) -> Answer:
        return self.api.post(ACCOUNTS, expected, json={"email": email, **fields})


def log_in(person: Person, status: int = 200, password: str = "") -> Answer:
    form = {"username": person.email, "password": password or person.password}
    return Api(person.app).post("/login", status, data=form)
