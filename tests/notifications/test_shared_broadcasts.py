"""`NOTIFICATIONS__BROADCASTS=shared`: a broadcast to all accounts is stored once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import create_engine, event, func, inspect, select, text

from app import Audience, Frontdesk
from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.core.data_export import DataSubject, ExportReader
from app.notifications import shared
from app.notifications.export import export_notifications
from app.notifications.inbox import Inbox
from app.notifications.models import InboxItem, SharedBroadcast, SharedItem
from app.notifications.personal import PersonalFields
from app.notifications.retention import NotificationRetention
from app.notifications.undo import InboxUndo
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import Backend, MakeApp, MakePerson, Person, only_on
from ..rigs.manual_engine import ManualEngine
from ..rigs.racing import request, run_concurrently
from ..transfer.test_import import import_lines
from .test_admin_send import PATH, body

Share = Callable[[int], None]


@pytest.fixture(autouse=True)
def newest(monkeypatch: pytest.MonkeyPatch) -> Share:
    """Set how many of the newest accounts get rows."""

    def set_newest(count: int) -> None:
        monkeypatch.setattr(shared, "NEWEST_IDS", count)

    set_newest(0)
    return set_newest


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(NOTIFICATIONS__BROADCASTS="shared")


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


def rows(app: Flask) -> tuple[int, int, int]:
    """Return the numbers of shared broadcasts, of their states, and of inbox rows."""
    with app.app_context():
        session = current_frontdesk.session
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(model))
            for model in (SharedBroadcast, SharedItem, InboxItem)
        )


def titles(reader: Person) -> list[str]:
    return [item["title"] for item in reader.api().get("/notifications").json]


def export(app: Flask, reader: Person) -> list[tuple[str, bool]]:
    """Return the title and the state of each item in the data export of an account."""
    with app.app_context():
        database = service(PersonalFields).database
        tables = set(inspect(database).get_table_names())
        exports = ExportReader(database, tables, lambda: None)
        subject = DataSubject(reader.id, reader.email, reader.id)
        files: dict[str, Any] = dict(
            export_notifications(service(PersonalFields), subject, exports)
        )
        return [(row["title"], row["is_read"]) for row in files["inbox.jsonl"]]


def test_only_recipients_who_read_or_delete_have_a_row(
    app: Flask, admin: Api, ada: Person, bob: Person, person: MakePerson
) -> None:
    carol = person("carol")
    sent = admin.post(PATH, 201, json=body()).json
    assert sent["receivers"] == 4
    assert rows(app) == (1, 0, 0)
    ada.api().patch(f"/notifications/{sent['id']}/mark")
    assert rows(app) == (1, 1, 0)
    (item,) = bob.api().get("/notifications").json
    bob.api().delete(f"/notifications/{item['id']}")
    assert rows(app) == (1, 2, 0)
    assert [len(titles(each)) for each in (ada, bob, carol)] == [1, 0, 1]
    assert admin.get(f"{PATH}/{sent['id']}").json["read"] == 1


def test_account_created_later_does_not_receive_the_broadcast(
    app: Flask, admin: Api, person: MakePerson
) -> None:
    sent = admin.post(PATH, 201, json=body()).json
    late = person("late")
    assert titles(late) == []
    assert late.api().get("/notifications/unread-count").json == {"unread": 0}
    late.api().patch(f"/notifications/{sent['id']}/mark", 404)
    assert late.api().patch("/notifications/mark-all").json["message"] == "0 notifications marked"
    assert rows(app) == (1, 0, 0)


def test_imported_account_does_not_receive_broadcasts_of_the_past(
    app: Flask, admin: Api, ada: Person, bob: Person, person: MakePerson
) -> None:
    carol = person("carol")
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(bob.email))
    first, second = (admin.post(PATH, 201, json=body(title=each)).json for each in ("a", "b"))
    lines = [{"id": key, "email": f"{key}@example.com"} for key in (bob.id, carol.id + 5)]
    assert import_lines(app, [*lines, {"email": "new@example.com"}])["imported"] == 3
    # Of the imported ids, only that of the deleted account is an id of a recipient.
    assert rows(app) == (2, 2, 0)
    imported = Person(app, bob.id, lines[0]["email"], "a" * 20, "/api/v1")
    with app.app_context():
        service(Accounts).change(service(Accounts).get(imported.email), password="a" * 20)
        items = [item["id"] for item in service(Inbox).page(ada.id, offset=0, limit=10)]
        undo = service(InboxUndo)
        assert [undo.create_token(bob.id, each) for each in items] == [None, None]
    inbox = imported.api()
    assert titles(imported) == []
    assert inbox.get("/notifications/unread-count").json == {"unread": 0}
    inbox.patch(f"/notifications/{first['id']}/mark?status=true", 404)
    assert inbox.patch("/notifications/mark-all").json["message"] == "0 notifications marked"
    assert [admin.get(f"{PATH}/{each['id']}").json["read"] for each in (first, second)] == [0, 0]
    assert export(app, imported) == []
    admin.post(PATH, 201, json=body(title="c"))
    assert titles(imported) == ["c"]
    assert titles(ada) == titles(carol) == ["c", "b", "a"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_newest_accounts_get_rows(
    app: Flask, admin: Api, ada: Person, bob: Person, newest: Share, count: int
) -> None:
    newest(count)
    assert admin.post(PATH, 201, json=body()).json["receivers"] == 3
    # Without older accounts, the broadcast is not shared.
    assert rows(app) == ((1, 0, count) if count < 3 else (0, 0, 3))
    assert titles(ada) == titles(bob) == ["Closed"]


@only_on("postgresql")
def test_registration_committed_after_sending_does_not_receive_the_broadcast(
    backend: Backend, app: Flask, admin: Api, ada: Person, newest: Share, person: MakePerson
) -> None:
    newest(2)
    engine = create_engine(backend.database_url)
    with engine.connect() as connection:
        insert = (
            "INSERT INTO accounts (email, status, role, created_at)"
            " VALUES ('slow@example.com', 'active', 'user', now()) RETURNING id"
        )
        slow = connection.scalar(text(insert))
        fast = person("fast")
        assert fast.id > slow
        assert admin.post(PATH, 201, json=body()).json["receivers"] == 3
        connection.commit()
    engine.dispose()
    with app.app_context():
        service(Accounts).change(service(Accounts).get("slow@example.com"), password="a" * 20)
    registered = Person(app, slow, "slow@example.com", "a" * 20, "/api/v1")
    assert titles(registered) == []
    assert titles(fast) == titles(ada) == ["Closed"]


@pytest.mark.parametrize("receivers", [Audience(role="user"), Audience(active=True), [2]])
def test_selected_recipients_get_rows(
    app: Flask, admin: Api, ada: Person, bob: Person, receivers: Any
) -> None:
    with app.app_context():
        sent = Frontdesk().notify("Hello", "x", receivers=receivers).notification
        assert sent is not None
        number = sent.receivers
    assert rows(app) == (0, 0, number)


def test_both_forms_are_read_with_both_settings(
    app: Flask, make_app: MakeApp, admin: Api, ada: Person
) -> None:
    other = make_app()
    with other.app_context():
        Frontdesk().notify("row", "x")
    with app.app_context():
        Frontdesk().notify("shared", "x")
    with other.app_context():
        Frontdesk().notify("row again", "x")
    assert rows(app) == (1, 0, 4)
    for each in (app, other):
        here = Api(each, token=ada.token())
        items = here.get("/notifications").json
        assert [item["title"] for item in items] == ["row again", "shared", "row"]
        assert here.get("/notifications/unread-count").json == {"unread": 3}
        assert here.get(f"/notifications/{items[1]['id']}").json == items[1]
        marked = here.patch("/notifications/mark-all?status=true").json["message"]
        assert marked == "3 notifications marked"
        here.patch("/notifications/mark-all?status=false")


def test_emails_of_a_shared_broadcast_are_expanded(
    make_app: MakeApp, person: MakePerson, engine: ManualEngine, newest: Share
) -> None:
    app = make_app(NOTIFICATIONS__BROADCASTS="shared", NOTIFICATIONS__INLINE_RECEIVERS="2")
    newest(1)
    admin = person("root", into=app, role="admin").api()
    ada, bob = person("ada", into=app), person("bob", into=app)
    sent = admin.post(PATH, 201, json=body(channels=["inapp", "email"])).json
    assert sent["deliveries"]["email"]["pending"] == 3
    assert titles(ada) == titles(bob) == ["Closed"]
    late = person("late", into=app)
    engine.deliver()
    after = admin.get(f"{PATH}/{sent['id']}").json
    assert (after["receivers"], after["deliveries"]["email"]["sent"]) == (3, 3)
    assert titles(late) == []
    assert rows(app) == (1, 0, 1)


def test_in_app_broadcast_needs_no_worker(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(NOTIFICATIONS__BROADCASTS="shared", NOTIFICATIONS__INLINE_RECEIVERS="1")
    admin = person("root", into=app, role="admin").api()
    ada = person("ada", into=app)
    assert admin.post(PATH, 201, json=body()).json["deliveries"] == {}
    assert titles(ada) == ["Closed"]


def test_pruning_and_deleting_remove_the_states(
    app: Flask, admin: Api, ada: Person, bob: Person, clock: SteppingClock
) -> None:
    first, second = (admin.post(PATH, 201, json=body()).json for _ in range(2))
    for reader in (ada, bob):
        reader.api().patch("/notifications/mark-all?status=true")
    assert rows(app) == (2, 4, 0)
    admin.delete(f"{PATH}/{first['id']}")
    assert rows(app) == (1, 2, 0)
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(ada.email))
    assert rows(app) == (1, 1, 0)
    assert admin.get(f"{PATH}/{second['id']}").json["read"] == 1
    clock.step(days=2)
    with app.app_context():
        assert service(NotificationRetention).prune(1, batch=1) == 1
    assert rows(app) == (0, 0, 0)


@only_on("postgresql")
def test_marking_all_as_read_locks_and_writes_only_unread_items(
    app: Flask, admin: Api, ada: Person
) -> None:
    admin.post(PATH, 201, json=body())
    inbox = ada.api()
    inbox.patch("/notifications/mark-all?status=true")

    def row_versions() -> list[Any]:
        with app.app_context():
            query = "SELECT ctid::text, xmin::text, xmax::text FROM {}"
            tables = ("frontdesk_shared_broadcasts", "frontdesk_shared_items")
            session = current_frontdesk.session
            return [tuple(session.execute(text(query.format(each))).one()) for each in tables]

    before = row_versions()
    marked = inbox.patch("/notifications/mark-all?status=true").json["message"]
    assert marked == "0 notifications marked"
    assert row_versions() == before
    admin.post(PATH, 201, json=body())
    marked = inbox.patch("/notifications/mark-all?status=true").json["message"]
    assert marked == "1 notifications marked"


def test_interrupted_pruning_shows_no_deleted_or_read_item_again(
    app: Flask, admin: Api, ada: Person, bob: Person, clock: SteppingClock
) -> None:
    admin.post(PATH, 201, json=body())
    (item,) = ada.api().get("/notifications").json
    ada.api().delete(f"/notifications/{item['id']}")
    bob.api().patch("/notifications/mark-all?status=true")
    clock.step(days=2)
    batches: list[str] = []

    def interrupt(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("DELETE FROM frontdesk_shared_items"):
            batches.append(statement)
            if len(batches) == 2:
                raise KeyboardInterrupt

    with app.app_context():
        engine = current_frontdesk.db.engine
        event.listen(engine, "before_cursor_execute", interrupt)
        with pytest.raises(KeyboardInterrupt):
            service(NotificationRetention).prune(1, batch=1)
        event.remove(engine, "before_cursor_execute", interrupt)
    assert rows(app) == (1, 1, 0)
    for reader in (ada, bob):
        assert titles(reader) == []
        assert reader.api().get("/notifications/unread-count").json == {"unread": 0}
    with app.app_context():
        assert service(NotificationRetention).prune(1, batch=1) == 1
    assert rows(app) == (0, 0, 0)


def test_marks_and_deletions_race_without_errors(
    app: Flask, admin: Api, ada: Person, bob: Person
) -> None:
    for _ in range(5):
        sent = admin.post(PATH, 201, json=body()).json
        path = f"/notifications/{sent['id']}/mark?status=true"
        readers = [request(reader.api(), "PATCH", path) for reader in (ada, bob) for _ in range(2)]
        delete = request(admin, "DELETE", f"{PATH}/{sent['id']}")
        assert set(run_concurrently(*readers, delete)) <= {200, 404}
        assert rows(app) == (0, 0, 0)


def test_export_has_shared_broadcasts(app: Flask, admin: Api, ada: Person) -> None:
    kept, deleted = (admin.post(PATH, 201, json=body(title=each)).json for each in ("a", "b"))
    inbox = ada.api()
    inbox.patch(f"/notifications/{kept['id']}/mark")
    newest_item = inbox.get("/notifications").json[0]
    assert newest_item["notification_id"] == deleted["id"]
    inbox.delete(f"/notifications/{newest_item['id']}")
    assert export(app, ada) == [("a", True)]
