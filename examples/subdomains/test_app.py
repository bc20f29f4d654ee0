from __future__ import annotations

import pytest
from flask import Flask
from flask_frontdesk.testing import Kit, Person

from app import create_app


@pytest.fixture
def app() -> Flask:
    return create_app("sqlite://")


@pytest.fixture
def ada(frontdesk: Kit) -> Person:
    return frontdesk.account("ada")


def host(name: str) -> dict[str, str]:
    return {"Host": name}


def test_subdomain_selects_the_workspace(frontdesk: Kit, ada: Person) -> None:
    frontdesk.workspace("team", owner=ada)
    response = ada.api().get("/api/dashboard", headers=host("team.example.com"))
    assert response.json == {"workspace": "team", "role": "owner"}


def test_members_of_other_workspaces_are_rejected(frontdesk: Kit, ada: Person) -> None:
    bob = frontdesk.account("bob")
    bob.api().get("/api/dashboard", 403, headers=host("ada.example.com"))


@pytest.mark.parametrize("name", ["example.com", "example.org", "nothing.example.com"])
def test_other_hosts_have_no_workspace(ada: Person, name: str) -> None:
    ada.api().get("/api/dashboard", 404, headers=host(name))
