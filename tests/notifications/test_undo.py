"""Undo of a deletion restores the inbox item, for its receiver and for ten minutes."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.auth.proofs import Proofs, ProofSubject
from app.core.context import service
from app.notifications.errors import AlreadyRestored, NotificationNotFound, NotRestorable
from app.notifications.inbox import Inbox
from app.notifications.models import InboxItem
from app.notifications.undo import RESTORE_ITEM, SUBJECT_KIND, InboxUndo
from app.testing.clock import SteppingClock

from ..conftest import Person
from ..rigs.cases import for_each
from .conftest import Notify


def delete(app: Flask, person: Person, *items: dict[str, Any]) -> str:
    ids = [item["id"] for item in items]
    with app.app_context():
        token = service(InboxUndo).create_token(person.id, ids)
        assert token is not None
        assert service(Inbox).delete_all(person.id, ids) == len(items)
        return token


def restore(app: Flask, person: Person, token: str) -> int:
    with app.app_context():
        return service(InboxUndo).restore(person.id, token)


@pytest.mark.parametrize("is_read", [True, False])
def test_same_row_is_restored(app: Flask, ada: Person, notify: Notify, is_read: bool) -> None:
    for number in range(3):
        notify(str(number))
    inbox = ada.api()
    inbox.patch("/notifications/mark-all", query_string={"status": str(is_read).lower()})
    before = inbox.get("/notifications").json
    token = delete(app, ada, before[1])
    assert inbox.get("/notifications").json == [before[0], before[2]]
    assert restore(app, ada, token) == 1
    assert inbox.get("/notifications").json == before


def test_item_is_restored_once(app: Flask, ada: Person, notify: Notify) -> None:
    notify()
    (item,) = ada.api().get("/notifications").json
    token = delete(app, ada, item)
    restore(app, ada, token)
    with pytest.raises(AlreadyRestored):
        restore(app, ada, token)
    assert ada.api().get("/notifications").json == [item]


def test_many_items_are_restored_as_far_as_they_can(
    app: Flask, ada: Person, bob: Person, person: Any, notify: Notify
) -> None:
    root = person("root", role="root")
    for number in range(30):
        notify(str(number), receivers=[ada.id, bob.id], sender=root.id, notification_type="admin")
    before, of_bob = ada.api().get("/notifications").json, bob.api().get("/notifications").json
    ids = [item["id"] for item in (*before[2:], *of_bob, before[2])]
    with app.app_context():
        token = service(InboxUndo).create_token(ada.id, ids)
        assert token is not None
        assert service(Inbox).delete_all(ada.id, ids) == 28
        assert service(Inbox).delete_all(ada.id, ids) == 0
        assert service(InboxUndo).create_token(ada.id, ids) is None
    assert bob.api().get("/notifications").json == of_bob
    assert ada.api().get("/notifications").json == before[:2]
    root.api().delete(f"/admin/notifications/{before[2]['notification_id']}")
    assert restore(app, ada, token) == 27
    assert ada.api().get("/notifications").json == [*before[:2], *before[3:]]
    with pytest.raises(AlreadyRestored):
        restore(app, ada, token)


def test_other_account_cannot_restore_the_item(
    app: Flask, ada: Person, bob: Person, notify: Notify
) -> None:
    notify(receivers=[ada.id])
    (item,) = ada.api().get("/notifications").json
    token = delete(app, ada, item)
    with pytest.raises(NotificationNotFound):
        restore(app, bob, token)
    assert bob.api().get("/notifications").json == []
    assert restore(app, ada, token) == 1
    assert ada.api().get("/notifications").json == [item]


def test_deleted_notification_is_not_restored(
    app: Flask, ada: Person, person: Any, notify: Notify
) -> None:
    root = person("root", role="root")
    notify(receivers=[ada.id], sender=root.id, notification_type="admin")
    (item,) = ada.api().get("/notifications").json
    token = delete(app, ada, item)
    root.api().delete(f"/admin/notifications/{item['notification_id']}")
    with pytest.raises(NotificationNotFound):
        restore(app, ada, token)
    assert ada.api().get("/notifications").json == []


def test_token_expires(app: Flask, ada: Person, notify: Notify, clock: SteppingClock) -> None:
    notify()
    (item,) = ada.api().get("/notifications").json
    token = delete(app, ada, item)
    clock.step(minutes=11)
    with pytest.raises(NotRestorable):
        restore(app, ada, token)


def test_token_has_every_column_of_the_row(app: Flask, ada: Person, notify: Notify) -> None:
    notify()
    (item,) = ada.api().get("/notifications").json
    with app.app_context():
        token = service(InboxUndo).create_token(ada.id, [item["id"]])
        assert token is not None
        (stated,) = service(Proofs).by_token(RESTORE_ITEM, SUBJECT_KIND, token, subject)
    assert stated.keys() == set(InboxItem.__table__.columns.keys())


def test_token_from_before_a_new_column_is_rejected(
    app: Flask, ada: Person, notify: Notify
) -> None:
    notify()
    (item,) = ada.api().get("/notifications").json
    row = {"id": item["id"], "receiver_id": ada.id, "notification_id": item["notification_id"]}
    for older in (row, [row], [ada.id, item["id"], item["notification_id"], False]):
        with app.app_context():
            token = service(Proofs).token(RESTORE_ITEM, subject(older))
        with pytest.raises(NotRestorable):
            restore(app, ada, token)


def subject(stated: Any) -> ProofSubject[Any]:
    return ProofSubject(SUBJECT_KIND, stated, (), stated)


@for_each("token", ["", "invalid", "a.b.c", "\x00", "é" * 300])
def test_malformed_token_is_rejected(app: Flask, ada: Person, token: str) -> None:
    with pytest.raises(NotRestorable):
        restore(app, ada, token)
