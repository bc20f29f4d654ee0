"""Drafts and duplicates of broadcasts, saved segments, and test messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.accounts.service import Accounts
from app.broadcasts import saved
from app.broadcasts.models import SavedDraft
from app.broadcasts.saved import SavedDrafts, Segments, export_drafts
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, service
from app.core.data_export import DataSubject, ExportReader
from app.core.db.transaction import transaction
from app.delivery.outbox.models import OutgoingMessage
from app.notifications.models import InboxItem
from app.notifications.receivers import Audience
from app.testing.clock import SteppingClock
from app.testing.people import Person

from ..conftest import MakePerson
from ..rigs.racing import run_concurrently
from .page_reader import PageReader, error_of, hidden_fields, notice_of, visible_text

PATH = "/admin/broadcasts"
DRAFT = {"data.title": "Closed", "data.message": "On\nFriday.", "data.channels": ["email"]}


@pytest.fixture
def app(make_app: Any) -> Flask:
    made: Flask = make_app(AUTH__COOKIE_SESSIONS="on", NOTIFICATIONS__KEEP_DAYS="30")
    return made


@pytest.fixture
def boss(person: MakePerson) -> Person:
    return person("boss", role="admin")


@pytest.fixture
def admin(app: Flask, boss: Person) -> PageReader:
    return PageReader(app, boss)


@pytest.fixture
def root(app: Flask, person: MakePerson) -> PageReader:
    return PageReader(app, person("root", role="root"))


def check(admin: PageReader, expected: int = 200, **form: Any) -> str:
    sent = {**DRAFT, "step": "check", "count": "1", **form}
    return admin.post(f"{PATH}/new", expected, data=sent).text


def send(admin: PageReader, checked: str) -> str:
    """Send the checked broadcast and return the path of its page."""
    form = hidden_fields(checked, PATH)
    path = admin.post(PATH, data={**form, "data.channels": "email"}).headers["Location"]
    return str(path)


def drafts(app: Flask) -> list[Any]:
    with app.app_context():
        return [*current_frontdesk.session.scalars(select(SavedDraft.content))]


def test_draft_keeps_everything_until_it_is_sent(
    admin: PageReader, root: PageReader, app: Flask
) -> None:
    typed = {**DRAFT, "audience": "list", "list": "unknown\r\nnot an address", "role": "admin"}
    page = admin.send(f"{PATH}/drafts", **{**typed, "data.title": ""})
    path = admin.here
    assert notice_of(page) == "Draft saved."
    for kept in ("On\nFriday.", "unknown\nnot an address", 'value="email" checked'):
        assert kept in page
    assert "Without a title" in admin.get(PATH)
    draft = path.rpartition("/")[2]
    admin.send(f"{PATH}/drafts", **typed, draft=draft)
    assert admin.here == path
    assert len(drafts(app)) == 1
    assert "Closed" in visible_text(admin.get(PATH)).partition("Drafts")[2]
    assert "Drafts" not in root.get(PATH)
    root.get(path, 404)
    root.post(f"{path}/delete")
    assert len(drafts(app)) == 1
    send(admin, check(admin, audience="everyone", draft=draft))
    assert drafts(app) == []
    admin.get(path, 404)


def test_draft_in_two_tabs_is_sent_once(
    admin: PageReader, root: PageReader, boss: Person, app: Flask
) -> None:
    def open_tabs() -> list[tuple[PageReader, dict[str, str]]]:
        admin.send(f"{PATH}/drafts", **DRAFT)
        draft = admin.here.rpartition("/")[2]
        tabs = [PageReader(app, boss) for _ in range(2)]
        pages = [check(tab, audience="everyone", draft=draft) for tab in tabs]
        forms = [{**hidden_fields(page, PATH), "data.channels": "email"} for page in pages]
        return list(zip(tabs, forms, strict=True))

    def sent() -> int:
        return len(boss.api().get("/notifications/").json)

    first, second = open_tabs()
    assert first[1]["counted"] != second[1]["counted"]
    first[0].post(PATH, data=first[1])
    notice = notice_of(second[0].send(PATH, **second[1]))
    assert notice == "This draft has already been sent or deleted."
    assert (sent(), drafts(app)) == (1, [])

    def send_tab(tab: PageReader, form: dict[str, str]) -> Callable[[], int]:
        return lambda: tab.post(PATH, data=form).headers["Location"] == PATH

    for rounds in range(1, 4):
        assert run_concurrently(*(send_tab(*tab) for tab in open_tabs())) == [False, True]
        assert (sent(), drafts(app)) == (1 + rounds, [])


def test_saved_draft_replaces_no_other_draft(
    admin: PageReader, root: PageReader, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Drafts of other admins do not count.
    monkeypatch.setattr(saved, "MAX_DRAFTS", 2)

    def save(reader: PageReader, title: str, **draft: str) -> None:
        reader.send(f"{PATH}/drafts", **{**DRAFT, "data.title": title}, **draft)

    save(admin, "First")
    save(admin, "Second")
    second = admin.here.rpartition("/")[2]
    save(root, "Of another admin", draft=second)
    save(admin, "Second, changed", draft=second)
    titles = [content["title"] for content in drafts(app)]
    assert sorted(titles) == ["First", "Of another admin", "Second, changed"]


def test_draft_is_deleted_by_its_author_and_by_age(
    admin: PageReader, app: Flask, clock: SteppingClock
) -> None:
    for _ in range(2):
        admin.send(f"{PATH}/drafts", **DRAFT)
    admin.send(f"{admin.here}/delete")
    assert len(drafts(app)) == 1
    with app.app_context():
        clock.step(days=29)
        assert service(SavedDrafts).prune() == 0
        clock.step(days=2)
        assert service(SavedDrafts).prune() == 1
    assert drafts(app) == []


def test_drafts_are_exported_and_deleted_with_their_author(
    admin: PageReader, root: PageReader, boss: Person, app: Flask
) -> None:
    root.send(f"{PATH}/drafts", **{**DRAFT, "data.title": "Another author"})
    admin.send(f"{PATH}/drafts", **DRAFT)
    with app.app_context():
        tables = {SavedDraft.__tablename__}
        reader = ExportReader(current_frontdesk.db.engine, tables, lambda: None)
        files = dict(export_drafts(DataSubject(boss.id, boss.email, boss.id), reader))
        [exported] = cast(Iterable[Any], files["broadcast_drafts.jsonl"])
        assert exported["content"]["message"] == "On\nFriday."
        accounts: Any = service(Accounts)
        with transaction(accounts.session):
            accounts.delete(accounts.get(boss.email))
    assert [content["title"] for content in drafts(app)] == ["Another author"]


def test_number_of_drafts_is_limited(
    admin: PageReader, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "MAX_DRAFTS", 1)
    admin.send(f"{PATH}/drafts", **DRAFT)
    refused = admin.send_rejected(f"{PATH}/drafts", 409, **DRAFT)
    assert "You have reached the maximum number of these." in refused
    assert "On\nFriday." in refused


def test_duplicate_of_a_broadcast_is_a_draft_with_its_recipients(
    admin: PageReader, root: PageReader, boss: Person, app: Flask
) -> None:
    sent = send(admin, check(admin, audience="list", list=boss.email))
    draft = visible_text(root.send(f"{sent}/duplicate"))
    assert "This draft has the message and the recipients of the broadcast." in draft
    assert f"One account selected {boss.email}" in draft
    sent = send(admin, check(admin, status="active", role="admin"))
    duplicate = root.send(f"{sent}/duplicate")
    assert '<option value="active" selected>' in duplicate
    assert '<option value="admin" selected>' in duplicate
    # The recipients of a broadcast of the API are not stored: the draft must not reach others.
    data = {"title": "By the API", "message": "Text", "channels": ["inapp"]}
    by_api = boss.api().post("/admin/notifications", 201, json={"data": data}).json["id"]
    duplicate = admin.send(f"{PATH}/{by_api}/duplicate")
    assert re.search(r'value="chosen"[^>]* checked', duplicate)
    assert "Choose the recipients." in visible_text(duplicate)
    assert "By the API" in duplicate


def test_draft_of_a_deleted_segment_never_gets_the_next_one(app: Flask) -> None:
    with app.app_context():
        segments = service(Segments)
        segments.save("Testers", Audience(role="admin"))
        [first] = [each.id for each in segments.list()]
        segments.delete(first)
        segments.save("All users", Audience(role="user"))
        assert first not in [each.id for each in segments.list()]


def test_segment_is_saved_used_by_another_admin_and_deleted(
    admin: PageReader, root: PageReader, person: MakePerson, app: Flask
) -> None:
    ada = person("ada", status="inactive")
    assert "No segments" in admin.get(f"{PATH}/segments")
    form = {**DRAFT, "status": "inactive"}
    saved = admin.post(f"{PATH}/segments", 200, data={**form, "name": "Former"}).text
    assert "Segment “Former” saved." in saved
    for name in ("Former", "", "x" * 81):
        refused = admin.post(f"{PATH}/segments", 422, data={**form, "name": name}).text
        assert error_of(refused, "name")
    assert "Former Status: Inactive" in visible_text(root.get(f"{PATH}/segments"))
    page = root.get(f"{PATH}/new?segment=1")
    assert '<option value="1" selected>Former' in page
    checked = check(root, audience="segment", segment="1")
    assert "Status: Inactive" in checked
    send(root, checked)
    with app.app_context():
        found = current_frontdesk.session.scalars(select(InboxItem.receiver_id))
        assert [*found] == [ada.id]
    root.send(f"{PATH}/segments/1/delete")
    root.post(f"{PATH}/segments/1/delete", 404)
    refused = check(root, 422, audience="segment", segment="1")
    assert "Choose a segment." in refused
    with app.app_context():
        types = select(AuditEntry.type).where(AuditEntry.type.startswith("segment."))
        assert [*current_frontdesk.session.scalars(types)] == ["segment.created", "segment.deleted"]


def test_number_of_segments_is_limited_and_one_is_deleted(
    admin: PageReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "MAX_SEGMENTS", 2)

    def save(name: str, expected: int = 200) -> None:
        form = {**DRAFT, "status": "inactive", "name": name}
        admin.post(f"{PATH}/segments", expected, data=form)

    save("First")
    save("Second")
    save("Third", 409)
    admin.send(f"{PATH}/segments/1/delete")
    page = visible_text(admin.get(f"{PATH}/segments"))
    assert "Second Status: Inactive" in page
    assert "First Status: Inactive" not in page


def test_compose_page_reads_only_the_names_of_segments(admin: PageReader, app: Flask) -> None:
    admin.post(f"{PATH}/segments", 200, data={**DRAFT, "status": "inactive", "name": "Former"})
    statements: list[str] = []

    def record(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    with app.app_context():
        engine = current_frontdesk.db.engine
    event.listen(engine, "before_cursor_execute", record)
    page = admin.get(f"{PATH}/new")
    event.remove(engine, "before_cursor_execute", record)
    assert ">Former<" in page
    [about_segments] = [each for each in statements if "frontdesk_segments" in each]
    assert "audience" not in about_segments


def test_segment_of_a_list_forgets_deleted_accounts(
    admin: PageReader, person: MakePerson, app: Flask
) -> None:
    people = [person("ada"), person("bob")]
    lines = "\n".join(each.email for each in people)
    form = {**DRAFT, "audience": "list", "list": lines, "name": "Two"}
    admin.post(f"{PATH}/segments", 200, data=form)
    with app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.delete(accounts.get(people[0].email))
    assert "1 of 1" in check(admin, audience="segment", segment="1")


def test_test_message_is_marked_in_its_subject(admin: PageReader, boss: Person, app: Flask) -> None:
    form = {**DRAFT, "data.channels": ["email", "sms"], "data.title": "Closed & <b>"}
    page = visible_text(admin.post(f"{PATH}/test", 200, data=form).text)
    assert f"Test email sent to {boss.email}. No test was sent by SMS." in page
    with app.app_context():
        titles = current_frontdesk.session.scalars(select(OutgoingMessage.title))
        assert [*titles] == ["Test: Closed & <b>"]
