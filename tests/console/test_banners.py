"""Banners above the console's pages, and the pages with which admins manage them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask

from app.banners.service import Banners
from app.core.errors import Unavailable
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import MakePerson, Person
from .page_client import ParsedPage
from .page_reader import PageReader, error_of, notice_of, visible_text

BANNERS = "/admin/banners"


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="root")


@pytest.fixture
def admin(app: Flask, root: Person) -> PageReader:
    return PageReader(app, root)


@pytest.fixture
def visitor(app: Flask) -> PageReader:
    return PageReader(app)


@pytest.fixture
def api(root: Person) -> Api:
    return root.api()


def add(api: Api, text: str, **members: Any) -> int:
    created: int = api.post(BANNERS, 201, json={"text": text, **members}).json["id"]
    return created


def shown(page: str) -> list[str]:
    """Return the texts of the banners above a page."""
    return [
        unescape(text) for text in re.findall(r'<p id="banner-\d+"[^>]*>(?:<a[^>]*>)?([^<]*)', page)
    ]


def test_pages_show_banners_to_accounts_and_visitors(
    app: Flask, admin: PageReader, visitor: PageReader, api: Api, ada: Person
) -> None:
    add(api, "<b>Fire</b>", level="critical", audience="everyone", url="/status")
    add(api, "For root", audience={"role": "root"}, url="https://example.com/?a&b")
    page = admin.get("/account")
    assert shown(page) == ["<b>Fire</b>", "For root"]
    assert '<a href="http://localhost:3000/status" rel="noopener"' in page
    assert '<a href="https://example.com/?a&amp;b" rel="noopener"' in page
    for reader, path in ((PageReader(app, ada), "/account"), (visitor, "/forgot")):
        assert shown(reader.get(path)) == ["<b>Fire</b>"]
    missing = visitor.get("/no-such-page", 404, headers={"Accept": "text/html"})
    assert shown(missing) == ["<b>Fire</b>"]


def test_pages_that_ask_for_a_password_or_a_code_show_no_banners(
    admin: PageReader, visitor: PageReader, api: Api
) -> None:
    add(api, "Hello", audience="everyone")
    pages = [
        *map(admin.get, ("/account", "/profile", "/security", "/security/password")),
        *map(admin.get, ("/admin/banners", "/admin/accounts/new", "/admin/settings")),
        *map(visitor.get, ("/sign-in", "/forgot", "/sign-in/code")),
    ]
    asking = [re.search('type="password"|one-time-code', page) is not None for page in pages]
    assert [bool(shown(page)) for page in pages] == [not asks for asks in asking]
    assert asking.count(True) == 3


def test_banners_cost_a_page_one_query(
    app: Flask, admin: PageReader, visitor: PageReader, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(api, "Hello", audience="everyone")
    for reader, path, cost in (
        (admin, "/account", 1),
        (visitor, "/forgot", 1),
        (visitor, "/sign-in", 0),
    ):
        with noted_queries(app) as statements:
            reader.get(path)
        assert sum("frontdesk_banners" in each for each in statements) == cost, path
    monkeypatch.setattr(Banners, "list_for", unavailable)
    assert "Temporarily unavailable" in admin.get("/account", 503)


def unavailable(*_: object) -> list[Any]:
    raise Unavailable


def test_account_dismisses_a_banner(app: Flask, api: Api, ada: Person) -> None:
    first, second = add(api, "First", audience="everyone"), add(api, "Second")
    required, reader = add(api, "Required", dismissible=False), PageReader(app, ada)
    page = reader.get("/account?a=b")
    assert shown(page) == ["Required", "Second", "First"]
    forms = {each.action for each in ParsedPage(page).forms}
    assert (f"/banners/{first}/dismiss" in forms, f"/banners/{required}/dismiss" in forms) == (
        True,
        False,
    )
    assert shown(reader.send(f"/banners/{first}/dismiss")) == ["Required", "Second"]
    assert reader.here == "/account?a=b"
    assert [each["text"] for each in ada.api().get("/banners").json] == ["Required", "Second"]
    # A banner that was deleted since the page was loaded is gone too.
    api.delete(f"{BANNERS}/{second}")
    assert shown(reader.send(f"/banners/{second}/dismiss")) == ["Required"]
    rejected = reader.send_rejected(f"/banners/{required}/dismiss", 409)
    assert "cannot be dismissed" in visible_text(rejected)
    script = {"HX-Request": "true"}
    third = add(api, "Third")
    assert reader.post(f"/banners/{third}/dismiss", 200, headers=script).text == ""
    assert shown(reader.get("/account")) == ["Required"]


def test_browser_of_a_visitor_keeps_what_was_dismissed(
    visitor: PageReader, api: Api, ada: Person
) -> None:
    ids = [add(api, f"Banner {number}", audience="everyone") for number in range(3)]
    private = add(api, "Private")
    required = add(api, "Required", audience="everyone", dismissible=False)
    visitor.get("/forgot")
    for each in ids[:2]:
        page = visitor.send(f"/banners/{each}/dismiss")
    assert (shown(page), visitor.here) == (["Required", "Banner 2"], "/forgot")
    visitor.post(f"/banners/{required}/dismiss", 409)
    visitor.post(f"/banners/{private}/dismiss")
    api.delete(f"{BANNERS}/{ids[0]}")
    answer = visitor.post(f"/banners/{ids[2]}/dismiss")
    [cookie] = answer.headers.getlist("Set-Cookie")
    stored = re.findall("=([^;]*)", cookie)[0]
    assert {*stored.split("-")} == {str(each) for each in ids[1:]}
    assert ("HttpOnly" in cookie, "Secure" in cookie) == (True, True)
    assert shown(visitor.get("/forgot")) == ["Required"]
    # The account of the next user has dismissed nothing.
    visitor.post("/sign-in", data={"email": ada.email, "password": ada.password})
    assert len(shown(visitor.get("/account"))) == 4


def test_other_sites_cannot_dismiss_a_banner(visitor: PageReader, api: Api) -> None:
    path = f"/banners/{add(api, 'Hello', audience='everyone')}/dismiss"
    answer = visitor.post(path, 403, headers={"Sec-Fetch-Site": "cross-site"})
    assert "Set-Cookie" not in answer.headers


def test_admin_creates_changes_and_deletes_a_banner(admin: PageReader, api: Api) -> None:
    form = {
        "text": "Maintenance\r\non Friday",
        "url": " https://example.com ",
        "level": "warning",
        "audience": "filtered",
        "status": "verified",
        "role": "root",
        "ends_at": "2090-01-01T13:30",
        "dismissible": "false",
    }
    page = admin.send("/admin/banners/new", **form)
    [banner] = api.get(BANNERS).json
    assert banner == {
        "id": banner["id"],
        "text": "Maintenance\non Friday",
        "url": "https://example.com",
        "level": "warning",
        "audience": {"active": True, "verified": True, "role": "root"},
        "starts_at": banner["starts_at"],
        "ends_at": "2090-01-01T13:30:00+00:00",
        "dismissible": False,
    }
    assert notice_of(page) == "Banner created."
    for words in ("Shown now", "Role: Root", "Warning"):
        assert words in visible_text(page)
    path = f"/admin/banners/{banner['id']}"
    start = banner["starts_at"][:16]
    page = admin.get(path)
    assert f'value="{start}"' in page
    assert 'value="2090-01-01T13:30"' in page
    # A start that is not edited keeps its seconds.
    form |= {"text": "Later", "audience": "public", "starts_at": start}
    assert notice_of(admin.send(path, **form)) == "Banner changed."
    changed = api.get(f"{BANNERS}/{banner['id']}").json
    assert changed == {**banner, "text": "Later", "audience": "everyone"}
    admin.post(
        path, data={**form, "audience": "everyone", "starts_at": "2080-01-01T00:00", "ends_at": ""}
    )
    changed = api.get(f"{BANNERS}/{banner['id']}").json
    assert (changed["audience"], changed["starts_at"], changed["ends_at"]) == (
        {},
        "2080-01-01T00:00:00+00:00",
        None,
    )
    assert "Scheduled" in visible_text(admin.get("/admin/banners"))
    page = admin.send(f"{path}/delete")
    assert (notice_of(page), api.get(BANNERS).json) == ("Banner deleted.", [])
    assert "No banners yet" in visible_text(page)


def test_times_are_in_the_time_zone_of_the_admin(admin: PageReader, api: Api) -> None:
    api.patch("/account", json={"time_zone": "Asia/Tokyo"})
    admin.post("/admin/banners/new", data={"text": "x", "ends_at": "2090-01-01T09:00"})
    [banner] = api.get(BANNERS).json
    assert banner["ends_at"] == "2090-01-01T00:00:00+00:00"
    page = admin.get(f"/admin/banners/{banner['id']}")
    assert 'value="2090-01-01T09:00"' in page
    assert "Asia/Tokyo" in page


def test_audience_that_the_form_cannot_show_is_kept(
    admin: PageReader, api: Api, ada: Person
) -> None:
    for audience in ({"ids": [ada.id]}, {"active": False}):
        path = f"/admin/banners/{add(api, 'For some', audience=audience)}"
        assert 'value="kept" checked' in admin.get(path)
        admin.post(path, data={"text": "Still for some", "audience": "kept"})
        assert api.get(path).json["audience"] == audience


def test_rejected_form_shows_the_errors_at_its_fields(admin: PageReader, api: Api) -> None:
    form = {"text": "Hello", "url": "javascript:x", "starts_at": "2090-01-02T00:00"}
    admin.get("/admin/banners/new")
    page = admin.send_rejected("/admin/banners/new", 422, **form)
    assert (error_of(page, "url") != "", "javascript:x" in page) == (True, True)
    form |= {"url": "", "ends_at": "2090-01-01T00:00"}
    assert error_of(admin.send_rejected("/admin/banners/new", 422, **form), "ends_at")
    filtered = {"text": "Hello", "audience": "filtered", "workspace": "unknown"}
    assert error_of(admin.send_rejected("/admin/banners/new", 422, **filtered), "workspace")
    for _ in range(20):
        add(api, "x")
    page = visible_text(admin.send_rejected("/admin/banners/new", 409, text="One more"))
    assert "maximum number" in page


def test_only_admins_see_the_pages(app: Flask, ada: Person) -> None:
    reader = PageReader(app, ada)
    for path in ("/admin/banners", "/admin/banners/new", "/admin/banners/1"):
        reader.get(path, 403)
    reader.post("/admin/banners/new", 403, data={"text": "x"})
