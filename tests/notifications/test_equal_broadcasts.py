"""The same actions with `NOTIFICATIONS__BROADCASTS=rows` and `shared` have the same responses."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.core.context import service
from app.core.types import Values
from app.notifications import shared
from app.notifications.errors import AlreadyRestored, NotificationNotFound
from app.notifications.inbox import Inbox
from app.notifications.retention import NotificationRetention
from app.notifications.undo import InboxUndo
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person, only_on
from .test_admin_send import PATH, body

ACTIONS = 120
STATES = ("true", "false", None)


@dataclass
class Site:
    """One of the two installations. Its random numbers are those of the other one."""

    app: Flask
    make_person: MakePerson
    random: random.Random
    admin: Api
    readers: list[Person] = field(default_factory=list)
    clients: list[Api] = field(default_factory=list)
    # Tokens of deleted items, with the index of their reader.
    undo: list[tuple[int, str]] = field(default_factory=list)

    def add_reader(self) -> None:
        reader = self.make_person(f"reader{len(self.readers)}", into=self.app)
        self.readers.append(reader)
        self.clients.append(reader.api())

    def items(self, reader: int) -> list[Any]:
        found: list[Any] = self.clients[reader].get("/notifications?limit=500").json
        return found

    def act(self) -> object:
        """Do a random action and return its result, without the ids of inbox items."""
        action = self.random.choice(_ACTIONS)
        result = action(self, self.random.randrange(len(self.readers)))
        return action.__name__, _comparable(result)


def _comparable(value: Any) -> Any:
    """Return a response without the ids of inbox items, which are those of their rows, and without
    times."""
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    if not isinstance(value, dict):
        return value
    left_out = {"created_at", "links", *(("id",) if "notification_id" in value else ())}
    if "links" in value:
        own = f"/api/v1/notifications/{value['id']}"
        mark = f"/api/v1/notifications/{value['notification_id']}/mark"
        assert value["links"] == {"self": own, "mark": mark, "delete": own}
    return {name: _comparable(each) for name, each in value.items() if name not in left_out}


def send_to_all(site: Site, reader: int) -> Any:
    return site.admin.post(PATH, 201, json=body(title=f"to all {reader}")).json


def send_to_one(site: Site, reader: int) -> Any:
    query = f"?account_receiver_ids={site.readers[reader].id}"
    return site.admin.post(f"{PATH}/{query}", 201, json=body(title="to one")).json


def register(site: Site, reader: int) -> Any:
    site.add_reader()
    return len(site.readers)


def read_page(site: Site, reader: int) -> Any:
    number = site.random
    query: Values = {"offset": number.choice((0, 0, 1, 3)), "limit": number.choice((2, 5, 100))}
    if (is_read := number.choice(STATES)) is not None:
        query = {**query, "is_read": is_read}
    page = site.clients[reader].get("/notifications", query_string=query)
    return [page.json, page.headers.get("X-Total-Count"), "Link" in page.headers]


def read_older_and_newer(site: Site, reader: int) -> Any:
    items = site.items(reader)
    if not items:
        return None
    middle, is_read = site.random.choice(items)["id"], site.random.choice((None, True, False))
    with site.app.app_context():
        inbox, me = service(Inbox), site.readers[reader].id
        return [
            inbox.older(me, middle, limit=3, is_read=is_read),
            inbox.newer(me, middle, limit=3, is_read=is_read),
        ]


def count(site: Site, reader: int) -> Any:
    return site.clients[reader].get("/notifications/unread-count").json


def mark(site: Site, reader: int) -> Any:
    status = site.random.choice(STATES)
    # Also notifications that do not exist, or that the reader has deleted or never received.
    path = f"/notifications/{site.random.randint(1, 40)}/mark"
    client = site.clients[reader]
    response = client.client.patch(
        client.prefix + path,
        query_string={} if status is None else {"status": status},
        headers={"Authorization": f"Bearer {client.token}"},
    )
    return [response.status_code, response.json if response.status_code == 200 else None]


def mark_all(site: Site, reader: int) -> Any:
    status = site.random.choice(STATES)
    query = {} if status is None else {"status": status}
    return site.clients[reader].patch("/notifications/mark-all", query_string=query).json


def delete(site: Site, reader: int) -> Any:
    items = site.items(reader)
    if not items:
        return None
    item = site.random.choice(items)
    with site.app.app_context():
        token = service(InboxUndo).create_token(site.readers[reader].id, item["id"])
    assert token is not None
    site.undo.append((reader, token))
    deleted = site.clients[reader].delete(f"/notifications/{item['id']}").json
    site.clients[reader].delete(f"/notifications/{item['id']}", 404)
    return deleted


def undo(site: Site, _: int) -> Any:
    if not site.undo:
        return None
    reader, token = site.random.choice(site.undo)
    with site.app.app_context():
        try:
            return service(InboxUndo).restore(site.readers[reader].id, token)
        except (AlreadyRestored, NotificationNotFound) as problem:
            return type(problem).__name__


def list_sent(site: Site, _: int) -> Any:
    return site.admin.get(f"{PATH}/all").json


def delete_sent(site: Site, _: int) -> Any:
    sent = site.admin.get(f"{PATH}/all").json
    if len(sent) < 4:
        return None
    return site.admin.delete(f"{PATH}/{site.random.choice(sent)['id']}").json


def prune(site: Site, _: int) -> Any:
    if site.random.random() < 0.9:
        return None
    with site.app.app_context():
        retention = service(NotificationRetention)
        retention.clock = SteppingClock()
        retention.clock.step(days=2)
        return retention.prune(1, batch=2)


_ACTIONS: list[Callable[[Site, int], Any]] = [
    *[send_to_all] * 3,
    send_to_one,
    register,
    *[read_page] * 3,
    read_older_and_newer,
    count,
    *[mark] * 4,
    mark_all,
    *[delete] * 2,
    *[undo] * 2,
    list_sent,
    delete_sent,
    prune,
]


@pytest.fixture
def sites(
    make_app: MakeApp, person: MakePerson, tmp_path: Path, _migrated_sqlite: Path, seed: int
) -> list[Site]:
    other = tmp_path / "other.db"
    shutil.copy(_migrated_sqlite, other)
    apps = (
        make_app(),
        make_app(NOTIFICATIONS__BROADCASTS="shared", CORE__DATABASE_URL=f"sqlite:///{other}"),
    )
    made = []
    for app in apps:
        admin = person("root", into=app, role="admin").api()
        made.append(Site(app, person, random.Random(seed), admin))
        for _ in range(3):
            made[-1].add_reader()
    return made


@only_on("sqlite")
@pytest.mark.parametrize(("seed", "newest"), [(1, 0), (2, 0), (3, 2), (4, 1)])
def test_random_actions_have_the_same_responses(
    sites: list[Site], newest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "NEWEST_IDS", newest)
    in_rows, in_shared = sites
    for _ in range(ACTIONS):
        assert in_shared.act() == in_rows.act()
    for reader in range(len(in_rows.readers)):
        assert _comparable(in_shared.items(reader)) == _comparable(in_rows.items(reader))
