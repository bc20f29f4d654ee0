"""Admins create, change and end banners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.banners.models import BannerDismissal
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently
from .conftest import MakeBanner

After = Callable[..., str]
PATH = "/admin/banners"
NOON, LONG_AGO = "2090-01-01T12:00:00+00:00", "2000-01-01T12:00:00+00:00"


def test_banner_has_defaults(admin: Api, banner: MakeBanner) -> None:
    created = banner()
    assert created == {
        "id": created["id"],
        "text": "Maintenance on Friday",
        "url": None,
        "level": "info",
        "audience": {},
        "starts_at": created["starts_at"],
        "ends_at": None,
        "dismissible": True,
    }
    assert created["starts_at"].endswith("+00:00")
    assert admin.get(f"{PATH}/{created['id']}").json == created


def test_banner_returns_what_was_sent(admin: Api, ada: Person, banner: MakeBanner) -> None:
    values: dict[str, Any] = {
        "text": "ب" * 500,
        "url": "/status?day=friday",
        "level": "critical",
        "audience": {"ids": [ada.id], "active": True, "verified": True, "role": "user"},
        "starts_at": LONG_AGO,
        "ends_at": NOON,
        "dismissible": False,
    }
    first = banner(**values)
    assert first == {"id": first["id"], **values}
    second = banner(audience="everyone")
    assert admin.get(PATH).json == [second, first]
    page = admin.get(f"{PATH}?limit=1")
    assert (page.json, "offset=1" in page.headers["Link"]) == ([second], True)


BAD: list[tuple[str, object]] = [
    ("text", ""),
    ("text", "  "),
    ("text", "x" * 501),
    ("text", None),
    ("text", 5),
    ("text", "a\0b"),
    ("url", ""),
    ("url", "javascript:alert(1)"),
    ("url", "//example.com"),
    ("url", "/\\example.com"),
    ("url", "https://user:word@example.com"),
    ("url", " https://example.com"),
    ("url", "/a%0ab"),
    ("url", "/" + "x" * 2000),
    ("level", "urgent"),
    ("level", None),
    ("audience", "all"),
    ("audience", None),
    ("audience", []),
    ("audience.ids", {"ids": []}),
    ("audience.ids", {"ids": [999]}),
    ("audience.ids", {"ids": list(range(1, 1002))}),
    ("audience.ids.0", {"ids": ["one"]}),
    ("audience.status", {"status": ""}),
    ("audience.active", {"active": "perhaps"}),
    ("audience.verified", {"verified": 2}),
    ("audience.role", {"role": "emperor"}),
    ("audience.workspace", {"workspace": 999}),
    ("audience.workspace", {"workspace": "team"}),
    ("audience.language", {"language": "x" * 36}),
    ("audience.rol", {"rol": "admin"}),
    ("starts_at", "tomorrow"),
    ("starts_at", "2090-01-01T12:00:00"),
    ("ends_at", "2090-01-01"),
    ("ends_at", LONG_AGO),
    ("dismissible", "perhaps"),
]


@pytest.fixture
def path(banner: MakeBanner) -> str:
    return f"{PATH}/{banner()['id']}"


@for_each(("field", "value"), BAD)
def test_invalid_value_is_rejected(admin: Api, path: str, field: str, value: object) -> None:
    changes = {field.partition(".")[0]: value}
    body = {"text": "Maintenance", **changes}
    assert admin.post(PATH, 422, json=body).faults == [f"json:{field}"]
    assert admin.patch(path, 422, json=changes).faults == [f"json:{field}"]


def test_end_before_the_start_is_rejected(
    admin: Api, banner: MakeBanner, after: After, clock: SteppingClock
) -> None:
    start, end = after(hours=1), after(hours=2)
    for earlier in (start, after(minutes=59)):
        body = {"text": "x", "starts_at": start, "ends_at": earlier}
        assert admin.post(PATH, 422, json=body).faults == ["json:ends_at"]
    path = f"{PATH}/{banner(starts_at=start, ends_at=end)['id']}"
    assert admin.patch(path, 422, json={"starts_at": end}).faults == ["json:ends_at"]
    clock.step(hours=3)
    # A banner that has ended can have its text corrected, and be shown again.
    assert admin.patch(path, json={"text": "Corrected"}).json["ends_at"] == end
    assert admin.patch(path, json={"ends_at": None}).json["ends_at"] is None


def test_change_keeps_other_members(admin: Api, banner: MakeBanner) -> None:
    first = banner(level="warning", url="/status", audience={"role": "admin"})
    path = f"{PATH}/{first['id']}"
    assert admin.patch(path, json={}).json == first
    changes = {"text": "Over soon", "url": None, "audience": "everyone", "dismissible": False}
    assert admin.patch(path, json=changes).json == {**first, **changes}


def test_deleted_banner_is_gone(admin: Api, api: Api, banner: MakeBanner) -> None:
    first = banner(audience="everyone")
    path = f"{PATH}/{first['id']}"
    assert admin.delete(path).json == first
    assert api.get("/banners").json == []
    for method in (admin.get, admin.delete):
        assert method(path, 404).json["code"] == "banner_not_found"
    assert admin.patch(path, 404, json={"text": "x"}).json["code"] == "banner_not_found"
    assert banner()["id"] > first["id"]


def test_only_admins_manage_banners(ada: Person, api: Api) -> None:
    own = ada.api()
    for method, path in (("GET", PATH), ("POST", PATH), ("PATCH", f"{PATH}/1")):
        own.send(method, path, 403, json={})
        api.send(method, path, 401, json={})


def test_changes_are_in_the_audit_log(admin: Api, banner: MakeBanner) -> None:
    path = f"{PATH}/{banner('First')['id']}"
    admin.patch(path, json={"text": "Second", "level": "info"})
    admin.patch(path, json={"text": "Second"})
    admin.delete(path)
    entries = admin.get("/admin/events?limit=3").json
    assert [(each["type"], each["data"]) for each in entries] == [
        ("banner.deleted", {"text": "Second"}),
        ("banner.changed", {"text": "Second", "changed": ["text"]}),
        ("banner.created", {"text": "First"}),
    ]


def test_at_most_twenty_banners_are_in_force_at_any_time(
    admin: Api, banner: MakeBanner, after: After, clock: SteppingClock
) -> None:
    one, two, four = after(hours=1), after(hours=2), after(hours=4)
    for _ in range(10):
        banner(ends_at=one)
        banner(starts_at=two, ends_at=four)
    for _ in range(20):
        between = banner(starts_at=one, ends_at=two)
    for _ in range(10):
        first = banner(ends_at=one)
    path, half = f"{PATH}/{first['id']}", after(minutes=30)
    for body in ({}, {"ends_at": half}, {"starts_at": LONG_AGO}, {"starts_at": after(minutes=90)}):
        rejected = admin.post(PATH, 409, json={"text": "x", **body})
        assert rejected.json["code"] == "quota_reached"
    for change in ({"ends_at": None}, {"ends_at": after(minutes=61)}):
        assert admin.patch(path, 409, json=change).json["code"] == "quota_reached"
    assert admin.get(path).json == first
    # A full period rejects neither a banner after it nor the change of a text.
    banner(starts_at=two)
    admin.patch(f"{PATH}/{between['id']}", json={"text": "Other", "ends_at": two})
    admin.patch(path, json={"ends_at": half})
    banner(starts_at=half, ends_at=one)
    # Banners that have ended do not count.
    clock.step(hours=2)
    banner(starts_at=LONG_AGO, ends_at=after(minutes=1))


def test_quota_holds_for_concurrent_requests(admin: Api, banner: MakeBanner, after: After) -> None:
    for _ in range(17):
        banner()
    later = f"{PATH}/{banner(starts_at=NOON)['id']}"
    create = request(admin, "POST", PATH, json={"text": "x", "ends_at": after(hours=1)})
    change = request(admin, "PATCH", later, json={"starts_at": LONG_AGO})
    assert run_concurrently(*[create] * 5, change).count(409) == 3
    assert len(admin.get("/banners").json) == 20


def test_old_banners_are_pruned_with_their_dismissals(
    make_app: MakeApp,
    ada: Person,
    admin: Api,
    banner: MakeBanner,
    after: After,
    clock: SteppingClock,
) -> None:
    ended, running = banner(ends_at=after(hours=1)), banner()
    api = ada.api()
    for each in (ended, running):
        api.post(f"/banners/{each['id']}/dismiss")
    app = make_app(NOTIFICATIONS__KEEP_DAYS="30")
    for days, left in ((29, [running, ended]), (2, [running])):
        clock.step(days=days)
        assert app.test_cli_runner().invoke(args=["frontdesk", "prune"]).exit_code == 0
        assert dismissed_banners(app) == [running["id"]]
        assert admin.get(PATH).json == left


def test_reclaimed_account_sees_banners_again(app: Flask, ada: Person, banner: MakeBanner) -> None:
    ada.api().post(f"/banners/{banner()['id']}/dismiss")
    with app.app_context(), transaction(current_frontdesk.session):
        service(Accounts).reclaim(service(Accounts).get(ada.email))
    assert dismissed_banners(app) == []


def dismissed_banners(app: Flask) -> list[int]:
    with app.app_context():
        return [*current_frontdesk.session.scalars(select(BannerDismissal.banner_id))]
