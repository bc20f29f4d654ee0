"""Preferences and the unsubscribe page in a real browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from app.core.context import service
from app.notifications.unsubscribe import Subscription, UnsubscribeTokens

from ..conftest import Person
from ..rigs.console.site import Site, Visitors
from .conftest import OpenSite

PATH = "/notifications/preferences"
KINDS = {
    "orders": {"name": "Orders", "description": "Your orders."},
    "alarms": {"name": "Alarms", "mandatory": True},
    "hints": {"name": "Hints", "channels": ["inapp"]},
}


def switches(person: Person) -> dict[str, dict[str, bool]]:
    return {kind["key"]: kind["channels"] for kind in person.api().get(PATH).json["kinds"]}


@pytest.fixture
def site(open_site: OpenSite) -> Site:
    return open_site(NOTIFICATIONS__KINDS=json.dumps(KINDS))


def test_user_turns_kinds_of_notifications_off_and_on(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    her = visitors(ada)
    page = her.page
    her.open("/account")
    page.get_by_role("link", name="Choose notifications").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Notifications")
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="Alarms")).to_contain_text("Always on")
    expect(rows.filter(has_text="Hints")).to_contain_text("Inbox only")
    switch = page.get_by_role("switch", name="Orders: Email")
    for is_on in (False, True):
        switch.set_checked(is_on)
        page.get_by_role("button", name="Save notifications").click()
        expect(page.get_by_text("Notifications saved.")).to_be_visible()
        expect(switch).to_be_checked(checked=is_on)
        assert switches(ada)["orders"] == {"email": is_on}
        assert switches(ada)["announcements"]["email"]
    expect(page.get_by_role("switch")).to_have_count(2)


def test_recipient_unsubscribes_without_signing_in_and_undoes_it(
    site: Site, visitors: Visitors
) -> None:
    ada = site.person("ada")
    with site.app.app_context():
        token = service(UnsubscribeTokens).write(Subscription(ada.id, "orders", "email"))
    reader = visitors()
    page = reader.page
    reader.open(f"/api/v1/unsubscribe/{token}")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Unsubscribe from Orders")
    assert switches(ada)["orders"]["email"]
    page.get_by_role("button", name="Unsubscribe from Orders").click()
    expect(heading).to_have_text("You are unsubscribed from Orders")
    assert not switches(ada)["orders"]["email"]
    page.get_by_role("button", name="Undo: subscribe to Orders again").click()
    expect(heading).to_have_text("Unsubscribe from Orders")
    assert switches(ada)["orders"]["email"]
    page.get_by_role("button", name="Unsubscribe from all email that is not required").click()
    expect(page.get_by_text("You only get emails that are required.")).to_be_visible()
    assert not (switches(ada)["announcements"]["email"])
    assert not (switches(ada)["orders"]["email"])
    assert switches(ada)["alarms"]["email"]
    assert ada.email not in page.content()
    page.get_by_role("button", name="Undo: subscribe to all email again").click()
    expect(heading).to_have_text("Unsubscribe from Orders")
    assert all(channels.get("email", True) for channels in switches(ada).values())
