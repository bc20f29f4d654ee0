"""Audit log entries of profiles, which name the changed properties and not their values."""

from __future__ import annotations

from typing import Any

from flask import Flask

from ..audit.entries import records
from ..conftest import MakePerson, Person
from ..rigs.pictures import plain
from .test_avatars import send
from .test_profiles import ADA


def changes(app: Flask) -> list[Any]:
    return [each.data["changed"] for each in records(app, type="profile.updated")]


def test_creation_and_deletion_are_logged_once(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    here.post("/profiles", 409, json=ADA)
    here.delete("/profiles")
    here.delete("/profiles", 404)
    for name in ("profile.created", "profile.deleted"):
        [found] = records(app, type=name)
        assert (found.actor_id, found.account_id, found.data) == (ada.id, ada.id, {})


def test_change_logs_the_names_of_changed_properties(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json={**ADA, "shoe_size": 38})
    here.put("/profiles", json={**ADA, "shoe_size": 38})
    here.put("/profiles", json={**ADA, "city": "London", "bio": "Enchantress", "shoe_size": 38})
    here.put("/profiles", json={"ada@example.com": "text of the client"})
    assert changes(app) == [["bio", "city"], ["extra"]]


def test_rejected_change_is_not_logged(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    here.put("/profiles", 422, json={"first_name": "", "city": "London"})
    assert changes(app) == []


def test_picture_is_logged_when_it_changes(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    profile = send(here, plain("PNG")).json
    here.put("/profiles", json={**ADA, "avatar": profile["avatar"]})
    here.put("/profiles", json={"avatar": None})
    here.put("/profiles", json={"avatar": None})
    assert changes(app) == [["avatar"], ["avatar"]]


def test_change_by_an_admin_names_both_accounts(app: Flask, person: MakePerson) -> None:
    ada, admin = person("ada"), person("boss", role="admin")
    ada.api().post("/profiles", json=ADA)
    admin.api().put(f"/profiles/{ada.id}", json={"city": "Ockham"})
    [found] = records(app, type="profile.updated")
    assert (found.actor_id, found.account_id, found.data) == (
        admin.id,
        ada.id,
        {"changed": ["city"]},
    )
