"""Reading the audit log: authorization, filters and pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.accounts.actions import ACCOUNT_UNLOCKED
from app.core.actions import Target
from app.core.context import current_frontdesk, report_action
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..administration.test_search import follow
from ..auth.test_login import log_in
from ..conftest import MakePerson, Person
from ..rigs.cases import for_each

Record = Callable[..., None]


@pytest.fixture
def boss(person: MakePerson) -> Api:
    return person("boss", role="admin").api()


@pytest.fixture
def unlock(app: Flask) -> Record:
    """Return a function that creates entries."""

    def unlock(times: int = 1, **facts: Any) -> None:
        with app.app_context(), transaction(current_frontdesk.session):
            for _ in range(times):
                report_action(current_frontdesk.session, ACCOUNT_UNLOCKED, **facts)

    return unlock


def pages(api: Api, path: str, between: Callable[[], object] = lambda: None) -> list[list[int]]:
    """The ids of each page, by following `Link`."""
    found: list[list[int]] = []
    while True:
        response = api.get(path)
        found.append([each["id"] for each in response.json])
        further = re.search(r'</api/v1(.*)>; rel="next"', response.headers.get("Link", ""))
        if further is None:
            return found
        path = further[1]
        between()


def test_admin_lists_entries(boss: Api, ada: Person) -> None:
    log_in(Api(boss.app), ada.email, "wrong", 400, headers={"X-Request-ID": "call-7"})
    response = boss.get("/admin/events?limit=1")
    [found] = response.json
    assert found == {
        "id": found["id"],
        "type": "login.failed",
        "at": found["at"],
        "actor_kind": "anonymous",
        "actor_id": None,
        "account_id": ada.id,
        "workspace_id": None,
        "target_kind": None,
        "target_id": None,
        "address": "127.0.0.1",
        "user_agent": found["user_agent"],
        "request_id": "call-7",
        "data": {"reason": "incorrect_credentials", "method": "POST", "route": "/api/v1/login"},
    }
    assert found["at"].endswith("+00:00")
    assert response.headers["Cache-Control"] == "no-store"


def test_pages_are_stable_while_entries_are_added(boss: Api, unlock: Record) -> None:
    """Entries with one timestamp, which differ only by id."""
    unlock(10)
    there = [each["id"] for each in boss.get("/admin/events").json]
    found = pages(boss, "/admin/events?limit=3", between=lambda: unlock(2))
    assert [len(page) for page in found[:-1]] == [3] * (len(found) - 1)
    assert [id for page in found for id in page] == there


def test_previous_page_is_linked(boss: Api, unlock: Record) -> None:
    unlock(7)
    first = boss.get("/admin/events?type=account.unlocked&limit=3")
    second = follow(boss, first, "next")
    third = follow(boss, second, "next")
    assert 'rel="prev"' not in first.headers["Link"]
    assert len(third.json) == 1
    again = follow(boss, third, "prev")
    start = follow(boss, again, "prev")
    assert (start.json, again.json) == (first.json, second.json)
    assert 'rel="prev"' not in start.headers["Link"]
    assert follow(boss, start, "next").json == second.json
    unlock(1)
    # Only one entry is newer: the page before it is the first page, with three entries.
    newest = follow(boss, follow(boss, second, "prev"), "prev")
    assert newest.json == boss.get("/admin/events?type=account.unlocked&limit=3").json


@pytest.mark.parametrize(
    ("name", "value"),
    [("type", "account.unlocked"), ("actor", "{ada}"), ("account", "{bob}"), ("workspace", 77)],
)
def test_filters_select_matching_entries(
    boss: Api, person: MakePerson, ada: Person, unlock: Record, name: str, value: Any
) -> None:
    bob = person("bob", role="admin")
    ada.api()
    unlock(account_id=bob.id, workspace_id=77)
    requested = str(value).format(ada=ada.id, bob=bob.id)
    column = {"actor": "actor_id", "account": "account_id", "workspace": "workspace_id"}
    found = boss.get(f"/admin/events?{name}={requested}").json
    assert found
    assert {str(each[column.get(name, name)]) for each in found} == {requested}


def test_target_and_time_filters(boss: Api, unlock: Record, clock: SteppingClock) -> None:
    for number in range(3):
        unlock(target=Target("door", number))
        clock.step(minutes=1)
    ids = boss.get("/admin/events?target=door:1").json
    assert [each["target_id"] for each in ids] == ["1"]
    moment = ids[0]["at"].replace("+", "%2B")
    doors = boss.get(f"/admin/events?type=account.unlocked&since={moment}").json
    assert [each["target_id"] for each in doors] == ["2", "1"]
    doors = boss.get(f"/admin/events?type=account.unlocked&until={moment}").json
    assert [each["target_id"] for each in doors] == ["0"]


def test_entries_are_found_by_account(boss: Api, ada: Person, person: MakePerson) -> None:
    person("bob")
    boss.patch(f"/admin/accounts/{ada.id}", json={"status": "suspended"})
    [first, *others] = boss.get(f"/admin/accounts/{ada.id}/events").json
    assert (first["type"], first["data"]["after"]) == ("account.updated", {"status": "suspended"})
    assert [each["type"] for each in others] == ["workspace.created", "account.created"]
    boss.get("/admin/accounts/999/events", 404)


@for_each(
    "query",
    [
        "type=login.forgotten",
        "target=door",
        "target=:17",
        "since=yesterday",
        "since=0001-01-01T00:00:00%2B14:00",
        "after=17",
        "after=9999999999999999.x",
        "after=999999999999999999.1",
        "before=17",
        "before=17.1&after=17.1",
        "limit=0",
        "actor=ada",
        "workspace=-1",
    ],
)
def test_invalid_filter_is_rejected(boss: Api, query: str) -> None:
    boss.get(f"/admin/events?{query}", 422)
    if not query.startswith(("after", "before", "limit")):
        boss.get(f"/admin/events.jsonl?{query}", 422)


def test_only_admins_list_all_entries(ada: Person, api: Api) -> None:
    for path in ("/admin/events", "/admin/events.jsonl"):
        ada.api().get(path, 403)
        api.get(path, 401)


def test_export_is_json_lines_oldest_first(
    boss: Api, unlock: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.audit.service.BATCH_ROWS", 3)
    unlock(7)
    newest_first = boss.get("/admin/events").json
    response = boss.get("/admin/events.jsonl").response
    assert response.mimetype == "application/jsonl"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.is_streamed
    lines = [json.loads(line) for line in response.get_data(as_text=True).splitlines()]
    assert lines == newest_first[::-1]
    some = boss.get("/admin/events.jsonl?type=login.succeeded").response
    assert len(some.get_data().splitlines()) == 1


def test_workspace_managers_see_entries_without_client_data(person: MakePerson) -> None:
    olga, bob = person("olga"), person("bob")
    boss = olga.api()
    boss.post("/workspaces", json={"name": "Team", "slug": "team"})
    boss.post("/workspaces", json={"name": "Other", "slug": "other"})
    boss.app.test_cli_runner().invoke(args=["workspaces", "add", "team", bob.email])
    found = boss.get("/workspaces/team/events").json
    assert [each["type"] for each in found] == ["member.added", "workspace.created"]
    assert (found[0]["account_id"], found[0]["actor_kind"]) == (bob.id, "cli")
    assert found[0].keys() & {"address", "user_agent", "request_id"} == set()
    bob.api().get("/workspaces/team/events", 403)
    boss.patch(f"/workspaces/team/members/{bob.id}", json={"type": "admin"})
    assert bob.api().get("/workspaces/team/events?limit=1").json[0]["type"] == "member.updated"
    bob.api().get("/workspaces/other/events", 403)


def test_owner_sees_entries_of_the_account(person: MakePerson, ada: Person, api: Api) -> None:
    bob = person("bob")
    bob.api()
    log_in(api, ada.email, "wrong", 400)
    found = ada.api().get("/account/events").json
    assert {each["account_id"] for each in found} == {ada.id}
    names = [each["type"] for each in found]
    assert names == ["login.succeeded", "login.failed", "workspace.created", "account.created"]
    assert found[1]["address"] == "127.0.0.1"


def test_owner_does_not_see_other_actors_clients(person: MakePerson, ada: Person) -> None:
    olga = person("olga")
    boss = olga.api()
    boss.post("/workspaces", json={"name": "Team", "slug": "team"})
    ada.app.test_cli_runner().invoke(args=["workspaces", "add", "team", ada.email])
    boss.patch(f"/workspaces/team/members/{ada.id}", json={"type": "guest"})
    mine = ada.api().get("/account/events").json
    [found] = [each for each in mine if each["type"] == "member.updated"]
    assert (found["actor_id"], found["address"], found["user_agent"]) == (olga.id, None, None)


def test_owner_sees_ninety_days(ada: Person, clock: SteppingClock) -> None:
    clock.step(days=91)
    api = ada.api()
    assert [each["type"] for each in api.get("/account/events").json] == ["login.succeeded"]


def test_owners_entries_are_paginated(ada: Person, unlock: Record) -> None:
    unlock(5, account_id=ada.id)
    found = pages(ada.api(), "/account/events?limit=2")
    assert [len(page) for page in found] == [2, 2, 2, 2]
    assert len({id for page in found for id in page}) == 8


@pytest.mark.parametrize("path", ["/account/events", "/admin/events?type=login.failed"])
def test_page_takes_two_queries(app: Flask, boss: Api, unlock: Record, path: str) -> None:
    unlock(5)
    with noted_queries(app) as queries:
        boss.get(path)
    assert [query.split()[0] for query in queries] == ["SELECT", "SELECT"]
