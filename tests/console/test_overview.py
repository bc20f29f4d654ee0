"""The figures of the overview: periods, comparisons, tables, and links to what they count."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from werkzeug.test import TestResponse

from app.accounts.service import Accounts
from app.console.admin.figures import Figure
from app.console.admin.filters import start_of_day
from app.console.admin.periods import find_period
from app.console.resources import ConsoleResources
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, service
from app.delivery.outbox.models import Delivery, OutgoingMessage

from ..rigs.console.requests import ask, plain_html
from ..rigs.console.world import World
from ..rigs.cookie_browsers import HOST


def answer(world: World, path: str) -> TestResponse:
    cookie = world.site.cookie_of(world.people["admin"])
    return ask(world.site.app, "GET", path, cookie)


def main_of(world: World, path: str) -> str:
    found = answer(world, path)
    assert found.status_code == 200, found.text
    return plain_html(found.text).partition("<main")[2]


class Stats:
    """The tiles and the table of the page by their labels."""

    def __init__(self, main: str) -> None:
        self.tiles = {}
        for part in re.split('<div class="stat |<tr><th scope="row"><a ', main)[1:]:
            link = part.partition('class="through"')[2].partition("</a>")[0]
            self.tiles[link.partition(">")[2]] = part

    def link(self, label: str) -> str:
        return self.tiles[label].partition('href="')[2].partition('"')[0]

    def value(self, label: str) -> str:
        found = re.search(
            r'class="value">([^<]*)|<td class="end number".*?>([^<]+)<', self.tiles[label]
        )
        assert found
        return found[1] or found[2]

    def hint(self, label: str) -> str:
        found = re.search(r'class="(?:hint|quiet)"[^>]*>([^<]*)', self.tiles[label])
        return found[1] if found else ""


def add_events(world: World, kind: str, *ages: timedelta, account: Any = None) -> None:
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        for age in ages:
            entry = AuditEntry(type=kind, at=now - age, actor_kind="anonymous", data={})
            entry.account_id = account
            session.add(entry)
        session.commit()


def test_figures_are_compared_with_the_period_before(world: World) -> None:
    ages = [timedelta(days=40), timedelta(days=41), timedelta(days=42)]
    before = Stats(main_of(world, "/admin?period=30d"))
    assert before.hint("Failed sign-ins") in ("", "No change")
    add_events(world, "login.failed", *ages, timedelta(days=2))
    add_events(world, "login.succeeded", *ages, account=world.ada.id)
    stats = Stats(main_of(world, "/admin?period=30d"))
    number = int(stats.value("Failed sign-ins"))
    assert number == int(before.value("Failed sign-ins")) + 1
    assert stats.hint("Failed sign-ins") == Figure(number, 3).change
    assert stats.hint("Active accounts").endswith("%, from 1")
    assert stats.hint("Sign-ins").endswith("%, from 3")
    assert Stats(main_of(world, "/admin?period=7d")).hint("Sign-ins").endswith(", from 0")


@pytest.mark.parametrize(
    ("number", "before", "text"),
    [
        (12, 10, "+20%, from 10"),
        (1000, 2000, "-50%, from 2,000"),
        (3, 3, "No change"),
        (497, 498, "0%"),
        (3, 0, "+3, from 0"),
        (3, None, ""),
        (None, None, ""),
    ],
)
def test_change_of_a_figure(
    world: World, number: int | None, before: int | None, text: str
) -> None:
    with world.site.app.test_request_context():
        assert Figure(number, before).change == text


@pytest.mark.parametrize("period", ["24h", "7d", "30d", "90d"])
def test_figures_link_to_the_lists_that_they_count(world: World, period: str) -> None:
    main = main_of(world, f"/admin?period={period}")
    stats = Stats(main)
    accounts = main_of(world, stats.link("Sign-ups"))
    assert accounts.count('<th scope="row">') == int(stats.value("Sign-ups")) == 5
    active = main_of(world, stats.link("Active accounts"))
    assert active.count('<th scope="row">') == int(stats.value("Active accounts"))
    failed = main_of(world, stats.link("Failed sign-ins"))
    assert failed.count('class="event"') == int(stats.value("Failed sign-ins"))
    assert answer(world, stats.link("Sign-ins")).status_code == 200
    # No message was sent, so that chart is not shown.
    assert main.count("As a table") == 1
    number = {"24h": 24, "7d": 7, "30d": 30, "90d": 90}[period]
    assert main.count('<tr><th scope="row">') == number + 5
    assert main.count('type="radio"') == number


def test_deliveries_of_the_period_are_listed(world: World) -> None:
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        message = OutgoingMessage(title="Hours", message="New ones", created_at=now)
        session.add(message)
        session.flush()
        row = {"outgoing_id": message.id, "receiver_id": "1", "channel": "email", "lane": 0}
        for days in (3, 20, 50):
            at = now - timedelta(days=days)
            session.add(Delivery(**row, state="failed", due_at=at, finished_at=at))
        session.commit()
    stats = Stats(main_of(world, "/admin?period=30d"))
    assert stats.value("Failed messages") == "2"
    assert stats.hint("Failed messages") == "+100%, from 1"
    listed = main_of(world, stats.link("Failed messages"))
    assert listed.count('<th scope="row">') == 2
    assert parse_qs(urlsplit(stats.link("Failed messages")).query)["period"] == ["30d"]
    assert "No messages" in main_of(world, "/admin/deliveries")


def test_imported_accounts_are_counted_when_they_were_created(world: World) -> None:
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        imported = service(Accounts).create("imported@example.com", None)
        imported.created_at = now - timedelta(days=20)
        session.commit()
    assert Stats(main_of(world, "/admin?period=7d")).value("Sign-ups") == "5"
    stats = Stats(main_of(world, "/admin?period=30d"))
    assert stats.value("Sign-ups") == "6"


def test_chart_without_numbers_is_not_shown(world: World) -> None:
    main = main_of(world, "/admin")
    assert "Successful and failed sign-ins" in main
    assert "Sent and failed messages" not in main
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        message = OutgoingMessage(title="Hours", message="New ones", created_at=now)
        session.add(message)
        session.flush()
        row = {"outgoing_id": message.id, "receiver_id": "1", "channel": "email", "lane": 0}
        session.add(Delivery(**row, state="failed", due_at=now, finished_at=now))
        session.commit()
    assert "Sent and failed messages" in main_of(world, "/admin")


@pytest.mark.parametrize(
    ("most", "axis"),
    [(0, [2, 1]), (1, [2, 1]), (3, [4, 2]), (9, [10, 5]), (10, [10, 5]), (41, [60, 30]),
     (100, [100, 50]), (853, [1000, 500]), (2500, [4000, 2000])],
)  # fmt: skip
def test_axis_of_a_chart_ends_at_an_even_number(world: World, most: int, axis: list[int]) -> None:
    template = '{% import "console/ui.html" as ui with context %}{{ ui.bars(points, "All") }}'
    with world.site.app.test_request_context():
        templates = service(ConsoleResources).templates
        page = templates.from_string(template).render(points=[("1 Mar", most), ("2 Mar", 0)])
    scale = page.partition('class="scale"')[2].partition("</div>")[0]
    assert re.findall(r"<span>([\d,]+)</span>", scale) == [f"{each:,}" for each in (*axis, 0)]
    assert page.count('type="radio"') == 2
    assert f"<b>1 Mar</b> {most:,}" in page


def test_unknown_period_is_rejected(world: World) -> None:
    assert answer(world, "/admin?period=2d").status_code == 422
    assert answer(world, "/admin/deliveries?period=2d").status_code == 422


def test_days_begin_in_the_time_zone_of_the_reader(world: World) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    # The clocks were put forward on 25 March 2029.
    now = datetime(2029, 3, 28, 10, 15, 30, tzinfo=berlin).astimezone(UTC)
    with world.site.app.test_request_context():
        week = find_period("7d", now, berlin)
    assert week.start == datetime(2029, 3, 22, tzinfo=berlin)
    assert (week.labels[0], week.labels[-1]) == ("22 Mar", "28 Mar")
    assert (week.since, week.after) == ("2029-03-22", "2029-03-21")
    assert week.before[0].start == datetime(2029, 3, 15, tzinfo=berlin)
    assert week.before[-1].end == datetime(2029, 3, 21, 10, 15, tzinfo=berlin)
    assert [each.is_cut for each in week.all] == 6 * [False] + [True] + 7 * [False]
    lengths = {(each.end - each.start).total_seconds() / 3600 for each in week.buckets}
    assert lengths == {23, 24}
    assert all(one.end == other.start for one, other in pairwise(week.buckets))
    with world.site.app.test_request_context():
        at_midnight = find_period("7d", datetime(2029, 3, 27, 22, tzinfo=UTC), berlin)
    assert not any(each.is_cut for each in at_midnight.all)


def test_days_begin_in_the_time_zone_of_the_browser_if_the_account_has_none(world: World) -> None:
    now = datetime(2029, 3, 27, 22, tzinfo=UTC)
    headers = {"Cookie": "__Host-fd-zone=Asia/Tokyo"}
    with world.site.app.test_request_context(base_url=HOST, headers=headers):
        assert find_period("7d", now).start == datetime(2029, 3, 22, tzinfo=ZoneInfo("Asia/Tokyo"))
        assert start_of_day("2029-03-28") == "2029-03-27T15:00:00+00:00"


def test_hours_begin_in_the_time_zone_of_the_reader(world: World) -> None:
    kathmandu = ZoneInfo("Asia/Kathmandu")
    now = datetime(2030, 3, 10, 20, 40, tzinfo=UTC)
    with world.site.app.test_request_context():
        day = find_period("24h", now, kathmandu)
    assert len(day.buckets) == 24
    assert day.buckets[-1].start == datetime(2030, 3, 10, 20, 15, tzinfo=UTC)
    assert day.labels[-1] == "11 Mar, 02:00"
    assert day.before[-1].end == now - timedelta(days=1)


def test_problems_and_the_queue_are_written_for_readers(world: World) -> None:
    main = main_of(world, "/admin")
    assert "<b>SMS</b>" in main
    assert Stats(main).hint("Queued") == "the oldest for less than a minute"
