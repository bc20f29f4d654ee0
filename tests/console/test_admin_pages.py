"""The admin's overview, events and settings: their content, and the number of queries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import orjson
import pytest
from werkzeug.test import TestResponse

from app.core.context import current_frontdesk
from app.core.db.estimates import estimate
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.delivery.outbox.statistics import count_backlog, count_failures, list_counted
from app.testing.database import noted_queries

from ..rigs.console.requests import ask, check_pages, plain_html
from ..rigs.console.world import World


def answer(world: World, path: str, who: str = "admin") -> TestResponse:
    cookie = world.site.cookie_of(world.people[who])
    return ask(world.site.app, "GET", path, cookie)


def main_of(world: World, path: str, who: str = "admin") -> str:
    found = answer(world, path, who)
    assert found.status_code == 200, found.text
    return plain_html(found.text).partition("<main")[2]


def add_deliveries(world: World, **counts: int) -> None:
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        message = OutgoingMessage(
            title="Hours", message="New ones", created_at=now - timedelta(minutes=12)
        )
        session.add(message)
        session.flush()
        for state, count in counts.items():
            for number in range(count):
                session.add(
                    Delivery(
                        outgoing_id=message.id,
                        receiver_id="1",
                        channel="email",
                        lane=0,
                        state=state,
                        due_at=now,
                        reason=f"550 5.1.1 no mailbox {number}" if state == "failed" else None,
                        finished_at=None if state == "pending" else now,
                    )
                )
        session.commit()


def test_overview_shows_delayed_and_failed_messages(world: World) -> None:
    add_deliveries(world, pending=3, failed=2, sent=5)
    main = main_of(world, "/admin")
    assert "The oldest message has been queued for 12 minutes" in main
    assert "2 failed" in main
    assert 'reason=550+5.1.1">' in main
    assert "Mailbox does not exist" in main
    assert "no mailbox 1" in main_of(world, "/admin/deliveries?reason=550+5.1.1")


def test_overview_shows_findings_of_quick_doctor_checks(world: World) -> None:
    main = main_of(world, "/admin")
    assert "MAIL_SERVER is not set" in main
    assert "FIRST_SUPERUSER_PASSWORD still has its default value" in main


def test_overview_takes_a_fixed_number_of_queries(world: World) -> None:
    counts = []
    for _ in range(2):
        with noted_queries(world.site.app) as statements:
            main_of(world, "/admin")
        counts.append(len(statements))
        add_deliveries(world, pending=40, sent=40)
        for _each in range(5):
            world.site.cookie_of(world.ada)
    assert counts[0] == counts[1], statements
    for each in statements:
        if "count(" in each and ("accounts" in each or "deliveries" in each):
            assert "LIMIT" in each


def test_backlog_is_counted_up_to_a_limit(world: World) -> None:
    add_deliveries(world, pending=7, failed=3, sent=2)
    with world.site.app.app_context():
        session, clock = current_frontdesk.session, current_frontdesk.clock
        queue = count_backlog(session, most=4)
        assert queue.is_more
        assert queue.total == 5
        day = clock.now() - timedelta(days=1)
        assert count_failures(session, day) == {"550 5.1.1": 3}
        assert count_failures(session, day, most=2) == {"550 5.1.1": 2}
        assert not count_failures(session, clock.now() + timedelta(days=1))
        newest = list_counted(session, "failed", day, limit=2)
        rest = list_counted(session, "failed", day, limit=5, before=newest[-1].id)
        assert len({each.id for each in (*newest, *rest)}) == 3


def test_few_accounts_are_counted(world: World) -> None:
    with world.site.app.app_context():
        session, model = current_frontdesk.session, current_frontdesk.tables.account_model
        assert model is not None
        assert estimate(session, model) == (5, "exactly")


def test_number_of_many_accounts_is_an_estimate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.db.estimates.MAX_COUNT", 4)
    with world.site.app.app_context():
        found = estimate(
            current_frontdesk.session, current_frontdesk.tables.account_model or object
        )
    assert found.how in ("over", "about")
    assert found.number >= 4


def test_events_show_titles_and_changes(world: World) -> None:
    change = {"role": "admin"}
    world.people["root"].api().patch(f"/admin/accounts/{world.ada.id}", json=change)
    main = main_of(world, f"/admin/events?type=account.updated&account={world.ada.email}")
    assert "<del>user</del> → <ins>admin</ins>" in main
    assert f'href="/admin/accounts/{world.ada.id}"' in main
    assert "root@example.com" in main


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("type=nothing", "Choose one of the options."),
        ("account=x@example.com", "No account has this address"),
        ("actor=x", "Actor: "),
        ("since=soon", "From: Enter a valid date."),
        ("target=x", "Target: "),
    ],
)
def test_invalid_filter_of_events_is_reported_with_its_label(
    world: World, query: str, error: str
) -> None:
    found = answer(world, f"/admin/events?{query}")
    assert found.status_code == 422
    assert "The search is invalid." in found.text
    assert error in found.text
    file = answer(world, f"/admin/events.jsonl?{query}")
    assert file.headers["Location"].startswith("/admin/events?")


def test_events_link_to_the_next_and_previous_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.audit_log.ROWS", 3)
    main = main_of(world, "/admin/events")
    before, _, _ = main.partition('rel="next"')
    further = before.rpartition('href="')[2].partition('"')[0]
    following = main_of(world, further)
    assert "First page" in following
    assert main.count('class="event"') == following.count('class="event"') == 3
    monkeypatch.setattr("app.console.audit_log.ROWS", 2)
    check_pages(partial(main_of, world), "/admin/events?type=account.created")


def test_events_can_be_downloaded(world: World) -> None:
    file = answer(world, "/admin/events.jsonl?type=account.created")
    assert "attachment" in file.headers["Content-Disposition"]
    lines = [orjson.loads(line) for line in file.data.splitlines()]
    assert {line["type"] for line in lines} == {"account.created"}
    assert len(lines) == 5


def test_events_page_takes_a_fixed_number_of_queries(world: World) -> None:
    cookie = world.site.cookie_of(world.people["admin"])
    with noted_queries(world.site.app) as statements:
        ask(world.site.app, "GET", "/admin/events", cookie)
    # One each for the page, the total, and the names of accounts, workspaces, invitations and
    # broadcasts.
    assert len(statements) <= 10, statements


def test_only_root_sees_the_settings(world: World) -> None:
    assert answer(world, "/admin/settings").status_code == 403
    assert "Settings" not in answer(world, "/admin").text
    assert "AUTH__LOGIN_LIMIT" in main_of(world, "/admin/settings?namespace=AUTH", "root")


def rows_of(main: str) -> dict[str, str]:
    found = {}
    for row in main.split("<tr>")[2:]:
        name = row.partition("<code>")[2].partition("</code>")[0]
        found[name] = row
    return found


Show = Callable[..., dict[str, str]]


@pytest.fixture
def shown(world: World) -> Show:
    """Return the rows of the settings page by the names of the settings."""

    def show(query: str = "") -> dict[str, str]:
        return rows_of(main_of(world, f"/admin/settings{query}", "root"))

    return show


def test_settings_page_shows_no_secret(world: World, shown: Show) -> None:
    rows = shown("?namespace=-")
    assert ">Set<" in rows["SECRET_KEY"]
    assert ">Set<" in rows["FIRST_SUPERUSER_PASSWORD"]
    assert "Not set" in rows["MAIL_PASSWORD"]
    pages = ("", "?namespace=-", "?search=secret", "?search=superuser")
    main = "".join(main_of(world, f"/admin/settings{page}", "root") for page in pages)
    secret = world.site.app.extensions["frontdesk"].settings.secret_key
    assert secret not in main
    assert "changethis" not in main


def test_settings_page_shows_the_source_of_a_setting(
    shown: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTH__MFA", "optional")
    rows = shown("?namespace=AUTH")
    assert "Environment" in rows["AUTH__MFA"]
    assert "optional" in rows["AUTH__MFA"]
    assert "Default" in rows["AUTH__LOGIN_LIMIT"]


def test_settings_page_starts_with_the_changed_settings(shown: Show) -> None:
    rows = shown()
    assert "SECRET_KEY" in rows
    assert "AUTH__MFA" in rows
    assert "AUTH__LOGIN_LIMIT" not in rows
    assert not any("Default" in row for row in rows.values())


def test_settings_page_shows_one_namespace(world: World, shown: Show) -> None:
    names = set(shown("?namespace=BRAND"))
    assert {"BRAND__NAME", "BRAND__COLOR"} <= names
    assert {name.partition("__")[0] for name in names} == {"BRAND"}
    assert '<option value="BRAND" selected>' in main_of(
        world, "/admin/settings?namespace=BRAND", "root"
    )
    assert shown("?namespace=NONE") == {}


def test_settings_can_be_searched(shown: Show) -> None:
    assert set(shown("?search=mfa+trust")) == {"AUTH__MFA_TRUST_DAYS"}
    assert set(shown("?search=mfa+trust&namespace=AUTH")) == {"AUTH__MFA_TRUST_DAYS"}
    assert shown("?search=mfa+trust&namespace=CORE") == {}
    assert shown("?search=no-such-thing") == {}
