"""The delivery of broadcasts on pages: progress, failures, other admins, and all deliveries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import expect
from sqlalchemy import func, select, update

from app.console.texts import number
from app.core.context import current_frontdesk
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.frontdesk import Frontdesk
from app.notifications.models import Notification
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, only_on
from ..rigs.console.cells import WIDE, Cell
from ..rigs.console.requests import ask, check_pages, delete_newest, plain_html
from ..rigs.console.site import FEATURES, Site, Visitors
from ..rigs.console.world import PROFILE, World
from ..rigs.cookie_browsers import HOST
from ..rigs.manual_engine import ManualEngine
from ..rigs.twilio import Gateway, sms_gateway
from .conftest import OpenSite

pytestmark = only_on("sqlite")

SMS = {"SMS_ACCOUNT_SID": "AC1", "SMS_AUTH_TOKEN": "hidden", "SMS_PHONE_NUMBER": "+15550001111"}


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with sms_gateway() as gateway:
        yield gateway


@pytest.fixture
def world(
    make_app: MakeApp,
    mails: MailOutbox,
    clock: SteppingClock,
    engine: ManualEngine,
    gateway: Gateway,
) -> World:
    app = make_app(**FEATURES, **SMS, SMS_API_URL=gateway.url, CORE__CLIENT_HOST=HOST)
    return World(Site(app, HOST, mails, clock, engine))


def text_of(world: World, path: str, who: str = "admin") -> str:
    cookie = world.site.cookie_of(world.people[who])
    found = ask(world.site.app, "GET", path, cookie)
    assert found.status_code == 200, found.text
    return plain_html(found.text)


def main_of(world: World, path: str, who: str = "admin") -> str:
    return text_of(world, path, who).partition("<main")[2]


def send_sms(world: World, title: str = "Closed") -> str:
    """Send to all accounts, of which one has a phone number, and return the page's path."""
    return f"/admin/broadcasts/{world.send(title, 'On Friday.', 'sms')['id']}"


def test_progress_counts_only_accounts_with_a_phone_number(world: World) -> None:
    path = send_sms(world)
    assert "0 of 1 sent" in main_of(world, path)
    world.site.engine.deliver()
    main = main_of(world, path)
    assert "1 of 1 sent" in main
    assert 'role="img" aria-label="SMS: 1 of 1 sent"' in main
    assert "4 skipped (no phone number)" in main
    assert "hx-get" not in main


def test_channel_that_reaches_no_account_has_no_progress_bar(world: World) -> None:
    sent = world.send("Closed", "On Friday.", "sms", to=[world.ada.id])
    main = main_of(world, f"/admin/broadcasts/{sent['id']}")
    assert 'aria-label="SMS"' not in main
    assert "One skipped (no phone number)" in main


def test_live_update_has_the_failures_and_the_retry_button(world: World, gateway: Gateway) -> None:
    gateway.status = 400
    path = send_sms(world)
    page = main_of(world, path)
    assert f"{path}/progress?failed=0" in page
    assert f"{path}/progress?failed=0&before=9" in main_of(world, f"{path}?before=9")
    assert "Not delivered" not in page
    world.site.engine.deliver()
    update = text_of(world, f"{path}/progress?failed=0")
    assert 'id="failed" class="stack" hx-swap-oob="true"' in update
    assert world.suspended.email in update
    assert f'action="{path}/retry"' in update
    # The list is sent again only when the number of failures has changed.
    assert "Not delivered" not in text_of(world, f"{path}/progress?failed=1")
    assert "Not delivered" in main_of(world, path)


def test_live_update_removes_failures_that_are_retried(world: World, gateway: Gateway) -> None:
    gateway.status = 400
    path = send_sms(world)
    world.site.engine.deliver()
    world.bosses.post(path.replace("/admin/broadcasts", "/admin/notifications") + "/retry")
    update = text_of(world, f"{path}/progress?failed=1")
    assert 'id="failed" class="stack" hx-swap-oob="true" hidden' in update


def test_all_admins_see_a_broadcast_with_its_sender(world: World, gateway: Gateway) -> None:
    gateway.status = 400
    path = send_sms(world, "Closed today")
    world.site.engine.deliver()
    listed = main_of(world, "/admin/broadcasts", "root")
    assert "Closed today" in listed
    assert world.people["admin"].email in listed
    main = main_of(world, path, "root")
    assert f"Only the sender, {world.people['admin'].email}, can stop, retry or delete" in main
    assert "Not delivered" in main
    assert f"{path}/retry" not in main
    assert f"{path}/delete" not in main
    assert f"{path}/retry" not in text_of(world, f"{path}/progress", "root")


def test_list_names_senders_by_their_profile(world: World) -> None:
    world.bosses.post("/profiles", json={**PROFILE, "first_name": "Grace", "last_name": "Hopper"})
    assert "Grace Hopper" in main_of(world, "/admin/broadcasts", "root")


def test_another_admin_can_neither_stop_nor_retry_nor_delete(world: World) -> None:
    path = send_sms(world)
    cookie = world.site.cookie_of(world.people["root"])
    for action in ("stop", "retry", "delete"):
        assert ask(world.site.app, "POST", f"{path}/{action}", cookie).status_code == 404
    assert "Closed" in main_of(world, path)


def test_broadcast_of_a_deleted_account_is_read_only(world: World) -> None:
    path = send_sms(world)
    admin = world.people["admin"]
    world.people["root"].api().delete(f"/admin/accounts/{admin.id}")
    assert "Deleted account" in main_of(world, "/admin/broadcasts", "root")
    main = main_of(world, path, "root")
    assert "the sender's account was deleted" in main
    assert f"{path}/delete" not in main


def test_api_lists_only_the_broadcasts_of_the_caller(world: World) -> None:
    send_sms(world)
    root = world.people["root"].api()
    assert root.get("/admin/notifications/all").json == []
    root.get(f"/admin/notifications/{world.last_sent['id']}", 404)


def test_message_of_the_application_is_no_broadcast(world: World) -> None:
    with world.site.app.app_context():
        sent = Frontdesk().notify("An invoice", "Pay it.", receivers=[world.ada.id])
        assert sent.notification
        path = f"/admin/broadcasts/{sent.notification.id}"
    assert "An invoice" not in main_of(world, "/admin/broadcasts")
    cookie = world.site.cookie_of(world.people["admin"])
    assert ask(world.site.app, "GET", path, cookie).status_code == 404


@pytest.mark.parametrize(
    "path", ["/admin/broadcasts", "/admin/deliveries?state=pending", "/admin/deliveries"]
)
def test_lists_cost_as_many_queries_with_more_rows(world: World, path: str) -> None:
    counts = []
    add_failures(world, 1)
    for _ in range(2):
        with noted_queries(world.site.app) as statements:
            main_of(world, path)
        counts.append(len(statements))
        for number_ in range(6):
            world.send(f"Message {number_}", "Text", "email", "sms")
        add_failures(world, 5)
    assert counts[0] == counts[1], statements


def test_list_of_broadcasts_is_read_from_its_index(world: World) -> None:
    with noted_queries(world.site.app) as statements:
        main_of(world, "/admin/broadcasts")
    [listed] = [each for each in statements if "notification_type = 'admin'" in each]
    with world.site.app.app_context():
        session = current_frontdesk.session
        raw = session.connection().connection.cursor()
        raw.execute(f"EXPLAIN QUERY PLAN {listed}", (26, 0))
        assert "ix_frontdesk_notifications_broadcasts" in str(raw.fetchall())


def add_failures(world: World, count: int, reason: str = "550 no such mailbox") -> None:
    """Store failed messages of the application to one account."""
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        message = OutgoingMessage(title="Secret title", message="Text", created_at=now)
        session.add(message)
        session.flush()
        session.add_all(
            Delivery(
                outgoing_id=message.id,
                receiver_id=world.ada.id,
                channel="email",
                lane=0,
                state="failed",
                due_at=now,
                reason=reason,
                finished_at=now,
            )
            for _ in range(count)
        )
        session.commit()


def test_numbers_of_the_overview_lead_to_their_lists(world: World) -> None:
    send_sms(world)
    add_failures(world, 2)
    main = main_of(world, "/admin")
    for path in (
        "/admin/accounts",
        "/admin/deliveries",
        "/admin/deliveries?state=pending",
        "/admin/deliveries?state=sent",
        "/admin/deliveries?state=pending&channel=sms",
        "/admin/deliveries?reason=550",
        "/admin/events?type=login.failed&since=",
        "/admin/events?type=login.succeeded&since=",
        "/admin/accounts?created_after=",
    ):
        assert f'href="{path}' in main, path
        found = main.partition(f'href="{path}')[2].partition('"')[0]
        main_of(world, path + found)


def test_queued_messages_are_listed_with_their_broadcast(world: World) -> None:
    path = send_sms(world, "Closed today")
    queued = main_of(world, "/admin/deliveries?state=pending&channel=sms")
    assert queued.count("<tr>") == 2
    assert world.suspended.email in queued
    assert f'<a href="{path}" dir="auto">Closed today</a>' in queued
    assert "Closed today" not in main_of(world, "/admin/deliveries?state=pending&channel=email")


def test_failed_messages_are_filtered_by_reason(world: World) -> None:
    add_failures(world, 3)
    add_failures(world, 1, "552 mailbox full")
    assert main_of(world, "/admin/deliveries").count("<tr>") == 5
    full = main_of(world, "/admin/deliveries?reason=552")
    assert full.count("<tr>") == 2
    assert "Remove filter" in full
    # A message to one account can be confidential.
    assert "Secret title" not in full
    assert "Sent by the application" in full


def test_failed_messages_are_paginated(world: World) -> None:
    add_failures(world, 51)
    first = main_of(world, "/admin/deliveries")
    assert first.count("<tr>") == 51
    found = first.partition("before=")[2].partition('"')[0]
    second = main_of(world, f"/admin/deliveries?state=failed&before={found}")
    assert second.count("<tr>") == 2
    assert "First page" in second


@pytest.mark.parametrize(
    ("page", "path", "model", "conditions"),
    [
        ("deliveries", "/admin/deliveries", Delivery, [Delivery.state == "failed"]),
        (
            "deliveries",
            "/admin/deliveries?state=pending&channel=sms",
            Delivery,
            [Delivery.state == "pending", Delivery.channel == "sms"],
        ),
        ("broadcasts", "/admin/broadcasts", Notification, []),
    ],
)
def test_pages_link_to_the_next_and_previous_page(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    path: str,
    model: Any,
    conditions: Sequence[Any],
) -> None:
    monkeypatch.setattr(f"app.console.admin.{page}.PER_PAGE", 2)
    for number_ in range(5):
        add_failures(world, 1, f"Reason {number_}")
        send_sms(world, f"Message {number_}")
    check_pages(partial(main_of, world), path, lambda: delete_newest(world, model, *conditions))


def test_failed_messages_of_a_broadcast_have_pages(
    world: World, monkeypatch: pytest.MonkeyPatch, gateway: Gateway
) -> None:
    monkeypatch.setattr("app.console.admin.broadcasts.FAILED_PER_PAGE", 2)
    gateway.status = 400
    path = send_sms(world)
    world.site.engine.deliver()
    add_failures(world, 5, "400 gone")
    with world.site.app.app_context():
        session = current_frontdesk.session
        failed = Delivery.state == "failed"
        message = session.scalar(select(func.min(Delivery.outgoing_id)).where(failed))
        session.execute(update(Delivery).where(failed).values(outgoing_id=message))
        session.commit()
    oldest = [failed, Delivery.channel == "sms"]
    check_pages(partial(main_of, world), path, lambda: delete_newest(world, Delivery, *oldest))


def test_older_failures_are_not_listed(world: World, clock: SteppingClock) -> None:
    add_failures(world, 1)
    clock.step(days=1, seconds=1)
    assert "No messages match this filter." in main_of(world, "/admin/deliveries")


def test_unknown_state_is_rejected(world: World) -> None:
    cookie = world.site.cookie_of(world.people["admin"])
    assert ask(world.site.app, "GET", "/admin/deliveries?state=x", cookie).status_code == 422


def test_users_cannot_see_deliveries(world: World) -> None:
    cookie = world.site.cookie_of(world.ada)
    assert ask(world.site.app, "GET", "/admin/deliveries", cookie).status_code == 403


def test_thousands_are_separated_by_commas(app: Flask) -> None:
    with app.test_request_context():
        found = [number(each) for each in (0, 999, 2033, 1234567)]
        assert found == ["0", "999", "2,033", "1,234,567"]


class TestInChromium:
    @pytest.fixture
    def cell(self) -> Cell:
        return WIDE

    @pytest.fixture
    def site(self, open_site: OpenSite, gateway: Gateway) -> Site:
        return open_site(**SMS, SMS_API_URL=gateway.url)

    def test_failures_appear_on_the_open_page(
        self, site: Site, visitors: Visitors, gateway: Gateway
    ) -> None:
        gateway.status = 400
        ada = site.person("ada", phone="+441632960961")
        boss = site.person("boss", role="admin")
        data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "sms"]}
        sent = boss.api().post("/admin/notifications", 201, json={"data": data}).json
        visitor = visitors(boss)
        page = visitor.page
        visitor.open(f"/admin/broadcasts/{sent['id']}")
        expect(page.get_by_text("One queued")).to_be_visible()
        expect(page.get_by_text("One skipped (no phone number)")).to_be_visible()
        retry = page.get_by_role("button", name="Retry failed")
        expect(retry).to_have_count(0)
        # An update keeps the focus.
        result = page.get_by_role("link", name="Download as CSV")
        result.focus()
        with page.expect_response("**/progress?*"):
            pass
        visitor.settle()
        expect(result).to_be_focused()

        site.engine.deliver()
        expect(page.get_by_role("row", name=ada.email)).to_be_visible()
        expect(page.locator("#progress").get_by_text("One failed")).to_be_visible()

        gateway.status = 201
        retry.click()
        expect(page.get_by_text("Failed messages are retried.")).to_be_visible()
        expect(retry).to_have_count(0)
        site.engine.deliver()
        expect(page.get_by_text("1 of 1 sent")).to_be_visible()
        expect(page.get_by_role("img", name="SMS: 1 of 1 sent")).to_be_visible()
