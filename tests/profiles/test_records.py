"""What happens to a profile is recorded, by the names of what changed and never by what it says."""

from __future__ import annotations

from typing import Any

from flask import Flask

from ..audit.reading import records
from ..conftest import MakePerson, Person
from ..rigs.pictures import plain
from .test_avatars import send
from .test_profiles import ADA


def changes(app: Flask) -> list[Any]:
    return [each.data["changed"] for each in records(app, type="profile.updated")]


def test_its_making_and_its_end_are_recorded_once(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    here.post("/profiles", 409, json=ADA)
    here.delete("/profiles")
    here.delete("/profiles", 404)
    for name in ("profile.created", "profile.deleted"):
        [found] = records(app, type=name)
        assert (found.actor_id, found.account_id, found.data) == (ada.id, ada.id, {})


def test_a_change_tells_the_names_of_what_is_another_than_before(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json={**ADA, "shoe_size": 38})
    here.put("/profiles", json={**ADA, "shoe_size": 38})
    here.put("/profiles", json={**ADA, "city": "London", "bio": "Enchantress", "shoe_size": 38})
    here.put("/profiles", json={"ada@example.com": "a client's own words"})
    assert changes(app) == [["bio", "city"], ["extra"]]


def test_a_refused_change_is_none(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    here.put("/profiles", 422, json={"first_name": "", "city": "London"})
    assert changes(app) == []


def test_a_picture_is_a_change_and_sent_back_it_is_none(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.post("/profiles", json=ADA)
    shown = send(here, plain("PNG")).json
    here.put("/profiles", json={**ADA, "avatar": shown["avatar"]})
    here.put("/profiles", json={"avatar": None})
    here.put("/profiles", json={"avatar": None})
    assert changes(app) == [["avatar"], ["avatar"]]


def test_an_admins_change_names_both_people(app: Flask, person: MakePerson) -> None:
    ada, boss = person("ada"), person("boss", role="admin")
    ada.api().post("/profiles", json=ADA)
    boss.api().put(f"/profiles/{ada.id}", json={"city": "Ockham"})
    [found] = records(app, type="profile.updated")
    assert (found.actor_id, found.account_id, found.data) == (
        boss.id,
        ada.id,
        {"changed": ["city"]},
    )
