"""Notes that admins write about an account."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import delete

from app.accounts.notes import AccountNote, export_notes
from app.core.context import current_frontdesk
from app.core.data_export import DataSubject, ExportReader
from app.core.db.transaction import transaction

from ..rigs.console.site import Site, Visitors
from ..rigs.console.world import World
from .test_admin_accounts import AdminClient, account_path


@pytest.fixture
def admin(world: World) -> AdminClient:
    return AdminClient(world, "admin")


def notes(world: World) -> list[str]:
    return [row["text"] for row in exported(world)]


def exported(world: World) -> list[dict[str, Any]]:
    """Return the notes of the account's data export."""
    with world.site.app.app_context():
        engine: Any = current_frontdesk.session.get_bind()
        reader = ExportReader(engine, {"frontdesk_account_notes"}, lambda: None)
        subject = DataSubject(world.ada.id, world.ada.email, world.ada.id)
        files: dict[str, Any] = dict(export_notes(subject, reader))
        return list(files["notes.jsonl"])


def add(world: World, admin: AdminClient, text: str) -> int:
    admin.send(account_path(world.ada.id, "/notes"), text=text)
    return int(exported(world)[-1]["id"])


def delete_path(world: World, note_id: int) -> str:
    return account_path(world.ada.id, f"/notes/{note_id}/delete")


def test_note_is_shown_exported_and_in_the_audit_log_without_its_text(
    world: World, admin: AdminClient
) -> None:
    add(world, admin, "Asked for a refund.\r\n<b>Granted.</b>")
    page = AdminClient(world, "root").get(account_path(world.ada.id), tab="notes")
    assert "Asked for a refund." in page
    [author] = re.findall(r'<div class="dated">.*?</div>', page, re.DOTALL)
    assert "boss@example.com" in author
    [row] = exported(world)
    assert row.keys() == {"id", "text", "created_at"}
    assert row["text"] == "Asked for a refund.\n<b>Granted.</b>"
    [entry] = world.bosses.get("/admin/events?type=account.note_added").json
    assert (entry["account_id"], entry["data"]) == (world.ada.id, {})


def test_export_has_only_notes_about_the_account(world: World, admin: AdminClient) -> None:
    add(world, admin, "About Ada.")
    other = world.people["new_user"]
    admin.send(account_path(other.id, "/notes"), text="About another account.")
    assert notes(world) == ["About Ada."]
    assert "About another account." not in admin.get(account_path(world.ada.id), tab="notes")


def test_only_the_author_and_root_delete_a_note(world: World, admin: AdminClient) -> None:
    first, second = add(world, admin, "First"), add(world, admin, "Second")
    world.people["carol"] = world.site.person("carol", role="admin")
    AdminClient(world, "owner").send(delete_path(world, first), 403)
    AdminClient(world, "carol").send(delete_path(world, first), 404)
    admin.send(delete_path(world, first))
    assert notes(world) == ["Second"]
    admin.send(delete_path(world, first), 404)
    AdminClient(world, "root").send(delete_path(world, second))
    assert notes(world) == []
    assert len(world.bosses.get("/admin/events?type=account.note_deleted").json) == 2


def test_rejected_note_stays_in_the_form(
    world: World, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = account_path(world.ada.id, "/notes")
    admin.send_rejected(path, text=" ")
    assert "x" * 2001 in admin.send_rejected(path, text="x" * 2001)
    monkeypatch.setattr("app.accounts.notes.MAX_NOTES", 1)
    add(world, admin, "First")
    assert ">\nSecond</textarea>" in admin.send_rejected(path, 409, text="Second")
    admin.send(account_path(10**9, "/notes"), 404, text="Third")
    assert notes(world) == ["First"]


def test_notes_are_deleted_with_the_account_and_outlive_their_author(
    world: World, admin: AdminClient
) -> None:
    add(world, admin, "First")
    root = AdminClient(world, "root")
    for person in (world.people["admin"], world.ada):
        assert notes(world) == ["First"]
        with world.site.app.app_context(), transaction(current_frontdesk.session) as session:
            model = current_frontdesk.tables.account_model
            assert model is not None
            session.execute(delete(model).where(model.id == person.id))
        if person is not world.ada:
            assert "(deleted)" in root.get(account_path(world.ada.id), tab="notes")
    with world.site.app.app_context():
        assert current_frontdesk.session.query(AccountNote).count() == 0


def test_admin_adds_and_deletes_a_note(site: Site, visitors: Visitors) -> None:
    ada, boss = site.person("ada"), visitors(site.person("boss", role="admin"))
    page = boss.page
    boss.open(f"/admin/accounts/{ada.id}")
    page.get_by_role("navigation", name="This account").get_by_role("link", name="Notes").click()
    expect(page.get_by_label("New note")).to_be_hidden()
    page.locator("summary", has_text="Add note").click()
    if boss.cell.script:
        expect(page.get_by_label("New note")).to_be_focused()
    page.get_by_label("New note").fill("Called on Monday.")
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text("Note added.")).to_be_visible()
    expect(page.get_by_text("Called on Monday.")).to_be_visible()
    page.locator("li").filter(has_text="Called on Monday.").locator("summary").click()
    page.get_by_role("button", name="Delete note").click()
    expect(page.get_by_text("Note deleted.")).to_be_visible()
    expect(page.get_by_text("Called on Monday.")).to_have_count(0)
    expect(page.get_by_text("No notes yet.")).to_be_visible()
