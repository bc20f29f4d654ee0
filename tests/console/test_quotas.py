"""Quotas of what admins save, which parallel requests do not exceed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from app.accounts.notes import AccountNote
from app.broadcasts.models import SavedDraft, Segment
from app.core.context import current_frontdesk

from ..rigs.console.requests import ask
from ..rigs.console.world import World
from ..rigs.racing import run_concurrently

MESSAGE = {"data.title": "Closed", "data.message": "On Friday.", "audience": "everyone"}
MORE, REQUESTS = 3, 8


@pytest.mark.parametrize("model", [SavedDraft, Segment, AccountNote])
def test_quota_is_exact_under_concurrency(
    world: World, monkeypatch: pytest.MonkeyPatch, model: type[SavedDraft | Segment | AccountNote]
) -> None:
    app, cookie = world.site.app, world.site.cookie_of(world.people["admin"])

    def stored() -> int:
        with app.app_context():
            session = current_frontdesk.session
            return session.scalar(select(func.count()).select_from(model)) or 0

    most = stored() + MORE
    monkeypatch.setattr("app.broadcasts.saved.MAX_DRAFTS", most)
    monkeypatch.setattr("app.broadcasts.saved.MAX_SEGMENTS", most)
    monkeypatch.setattr("app.accounts.notes.MAX_NOTES", most)

    def save(number: int) -> Callable[[], int]:
        path, form = {
            SavedDraft: ("/admin/broadcasts/drafts", MESSAGE),
            Segment: ("/admin/broadcasts/segments", {**MESSAGE, "name": f"Team {number}"}),
            AccountNote: (f"/admin/accounts/{world.ada.id}/notes", {"text": f"Call {number}"}),
        }[model]
        return lambda: ask(app, "POST", path, cookie, data=form).status_code

    found = run_concurrently(*map(save, range(REQUESTS)))
    assert found == [found[0]] * MORE + [409] * (REQUESTS - MORE)
    assert found[0] in (200, 303)
    assert stored() == most
