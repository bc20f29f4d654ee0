"""The owner's account: details, activity, data export and deletion."""

from __future__ import annotations

import io
import re
import zipfile
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

from app.extension.actions import ACTIONS
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.requests import check_pages
from ..rigs.console.world import PROFILE
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.manual_engine import ManualEngine
from .page_reader import PageReader, error_of, hidden_fields, notice_of, visible_text


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__ACCOUNT_EXPORTS="on", AUTH__ACCOUNT_DELETION="on")


@pytest.fixture
def reader(app: Flask, ada: Person) -> PageReader:
    return PageReader(app, ada)


def test_details_can_be_set_and_cleared(reader: PageReader, ada: Person) -> None:
    given = {"phone": "+44 20 7946 0000", "locale": "pt-BR", "time_zone": "Europe/London"}
    assert notice_of(reader.send("/account", **given)) == "Details saved."
    account = ada.api().get("/account").json
    assert account["phone"] == "+442079460000"
    assert (account["locale"], account["time_zone"]) == ("pt-BR", "Europe/London")
    text = reader.get("/account")
    assert "<option selected>Europe/London<" in text
    reader.send("/account", phone="", locale="", time_zone="")
    account = ada.api().get("/account").json
    assert (account["phone"], account["locale"], account["time_zone"]) == (None, None, None)


def test_change_of_the_language_is_reported_in_the_new_language(reader: PageReader) -> None:
    notices = [notice_of(reader.send("/account", locale=locale)) for locale in ("de", "en")]
    assert notices == ["Angaben gespeichert.", "Details saved."]


def test_invalid_phone_number_is_reported_at_its_field(reader: PageReader) -> None:
    text = reader.send_rejected("/account", 422, phone="none of your business", time_zone="UTC")
    assert error_of(text, "phone")
    assert 'value="none of your business"' in text
    assert "<option selected>UTC<" in text


def test_language_set_by_a_client_stays(reader: PageReader, ada: Person) -> None:
    ada.api().patch("/account", json={"locale": "gsw", "time_zone": "US/Pacific"})
    text = reader.get("/account")
    assert '<option value="gsw" selected>' in text
    assert "<option selected>US/Pacific<" in text


def keep_zone(reader: PageReader, name: str) -> None:
    """Store the time zone of the browser, as the script of a page does."""
    reader.client.set_cookie("__Host-fd-zone", name, domain="localhost", secure=True)


def test_time_zone_of_the_browser_is_offered_until_the_account_has_one(
    reader: PageReader, ada: Person
) -> None:
    assert "The time zone of this browser" not in visible_text(reader.get("/account"))
    keep_zone(reader, "Europe/Berlin")
    text = reader.get("/account")
    assert "Use Europe/Berlin" in visible_text(text)
    offered = hidden_fields(text, "/account")
    assert offered == {"time_zone": "Europe/Berlin"}
    reader.send("/account", locale="en")
    text = reader.send("/account", **offered)
    assert notice_of(text) == "Details saved."
    account = ada.api().get("/account").json
    assert (account["time_zone"], account["locale"]) == ("Europe/Berlin", "en")
    assert "The time zone of this browser" not in visible_text(text)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Nowhere/City",
        "Europe",
        "../../../etc/passwd",
        "/etc/localtime",
        "A" * 4000,
        "a//b",
        "é",
    ],
)
def test_unknown_time_zone_of_a_browser_is_ignored(reader: PageReader, name: str) -> None:
    keep_zone(reader, name)
    text = reader.get("/account")
    assert "The time zone of this browser" not in visible_text(text)
    assert " UTC</time>" in text


def test_times_are_in_the_time_zone_of_the_account_then_of_the_browser(
    reader: PageReader, ada: Person, clock: SteppingClock
) -> None:
    def hour() -> str:
        shown = re.search(r"<time[^>]*>[^<]*, ((\d\d):[^<]*)</time>", reader.get("/account"))
        assert shown
        return shown[1] if "UTC" in shown[1] else shown[2]

    at = clock.now()
    assert hour() == f"{at:%H:%M} UTC"
    keep_zone(reader, "Asia/Tokyo")
    assert hour() == f"{at.astimezone(ZoneInfo('Asia/Tokyo')):%H}"
    ada.api().patch("/account", json={"time_zone": "Asia/Kathmandu"})
    assert hour() == f"{at.astimezone(ZoneInfo('Asia/Kathmandu')):%H}"


@pytest.mark.parametrize(
    ("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("system", None), ("x", None)]
)
def test_appearance_is_stored_in_the_browser(
    reader: PageReader, chosen: str, kept: str | None
) -> None:
    reader.send("/appearance", theme="dark")
    text = reader.send("/appearance", theme=chosen)
    found = re.search(r'<html[^>]* data-theme="(\w+)"', text)
    assert (found[1] if found else None) == kept


def test_visitor_can_choose_the_appearance(app: Flask) -> None:
    reader = PageReader(app)
    reader.here = "/sign-in"
    assert 'data-theme="dark"' in reader.send("/appearance", theme="dark")


def theme_cookies(app: Flask, chosen: str, base_url: str, **sent: str) -> list[str]:
    """Return the theme cookies that a choice sets; `sent` are the cookies of the browser."""
    client = app.test_client(use_cookies=False)
    headers = {
        **SAME_ORIGIN,
        "Cookie": "; ".join(f"{name}={value}" for name, value in sent.items()),
    }
    answer = client.post("/appearance", base_url=base_url, headers=headers, data={"theme": chosen})
    assert answer.status_code == 303
    return [cookie for cookie in answer.headers.getlist("Set-Cookie") if "fd-theme" in cookie]


def test_theme_cookie_is_bound_to_host_and_tls(app: Flask) -> None:
    [cookie] = theme_cookies(app, "dark", HOST)
    name, *attributes = cookie.split("; ")
    assert name == "__Host-fd-theme=dark"
    assert {"Secure", "Path=/", "SameSite=Lax"} < set(attributes)
    assert "Domain" not in cookie
    assert "HttpOnly" not in cookie
    [cookie] = theme_cookies(app, "system", HOST)
    assert cookie.startswith("__Host-fd-theme=; ")
    assert "; Secure" in cookie
    assert "Max-Age=0" in cookie


def test_theme_cookie_without_prefix_is_read_and_then_replaced(app: Flask) -> None:
    client = app.test_client(use_cookies=False)
    page = client.get("/sign-in", base_url=HOST, headers={"Cookie": "fd-theme=dark"})
    assert 'data-theme="dark"' in page.text
    both = {"Cookie": "fd-theme=dark; __Host-fd-theme=light"}
    assert 'data-theme="light"' in client.get("/sign-in", base_url=HOST, headers=both).text
    old, new = theme_cookies(app, "light", HOST, **{"fd-theme": "dark"})
    assert old.startswith("fd-theme=; ")
    assert "Max-Age=0" in old
    assert new.startswith("__Host-fd-theme=light")


def test_theme_is_kept_without_tls_in_debug_mode(app: Flask) -> None:
    app.debug = True
    [cookie] = theme_cookies(app, "dark", "http://localhost:5000")
    assert cookie.startswith("fd-theme=dark; ")
    assert "Secure" not in cookie
    client = app.test_client(use_cookies=False)
    page = client.get("/sign-in", base_url="http://localhost:5000", headers={"Cookie": cookie})
    assert 'data-theme="dark"' in page.text
    assert 'data-theme-cookie="fd-theme"' in page.text


def test_activity_shows_actions_devices_and_actors(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    ada.api().post("/profiles", json=PROFILE)
    admin = person("boss", role="admin").api()
    admin.put(f"/profiles/{ada.id}", json={"city": "Ockham"})
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    reader = PageReader(app)
    form = {"email": ada.email, "password": ada.password}
    reader.post("/sign-in", data=form, headers={"User-Agent": agent})
    text = visible_text(reader.get("/account/activity"))
    assert "Signed in Firefox on Linux · 127.0.0.1" in text
    assert "Account created By the service" in text
    assert "Profile changed By an operator" in text


def test_activity_has_pages(reader: PageReader) -> None:
    for number in range(65):
        reader.send("/account", phone=f"+44207946{number:04}")
    assert "Show all activity" in visible_text(reader.get("/account"))
    text = reader.get("/account/activity")
    assert text.count('<li class="entry">') == 30
    check_pages(reader.get, "/account/activity")
    reader.get("/account/activity?after=invalid", status=422)


def test_each_action_has_one_title() -> None:
    titles = [action.title for action in ACTIONS.values()]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if not title[:1].isupper()] == []


def test_export_is_requested_and_downloaded(
    reader: PageReader, engine: ManualEngine, ada: Person
) -> None:
    assert "Request export" in visible_text(reader.get("/account"))
    assert notice_of(reader.send("/account/exports")) == "Your export is being created."
    part = reader.get("/account/exports/newest")
    assert "hx-trigger" in part
    assert "being created" in visible_text(part)
    engine.deliver()
    part = reader.get("/account/exports/newest")
    assert "hx-trigger" not in part
    # The script shows these times in the browser's time zone, as all others.
    assert part.count("<time datetime=") == 2
    link = re.search(r'href="(/account/exports/\d+/file)"', part)
    assert link
    answer = reader.ask("GET", link[1], 200)
    assert answer.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.get_data())) as archive:
        assert ada.email.encode() in b"".join(archive.read(name) for name in archive.namelist())
    text = reader.send_rejected("/account/exports", 429)
    assert "Try again in 24 hours" in visible_text(text)


def test_export_is_available_to_its_owner_only(
    app: Flask, reader: PageReader, engine: ManualEngine, person: MakePerson
) -> None:
    reader.send("/account/exports")
    engine.deliver()
    link = re.search(r'href="(/account/exports/\d+/file)"', reader.get("/account"))
    assert link
    other = PageReader(app, person("bob"))
    other.get(link[1], status=404)
    assert "Request export" in visible_text(other.get("/account"))


def test_export_needs_a_recent_sign_in(reader: PageReader, clock: SteppingClock) -> None:
    reader.get("/account")
    clock.step(minutes=16)
    assert "next=/account" in reader.post("/account/exports").headers["Location"]


def test_account_is_deleted_with_a_grace_period(
    reader: PageReader, ada: Person, mails: MailOutbox
) -> None:
    text = visible_text(reader.get("/account/delete"))
    assert "deleted after 14 days" in text
    text = reader.send_rejected("/account/delete", 400, password="not the password")
    assert "Delete my account" in visible_text(text)
    assert "not the password" not in text
    text = reader.send("/account/delete", password=ada.password)
    assert reader.here.startswith("/sign-in")
    assert "Your account will be deleted on" in notice_of(text)
    assert "/keep-account?token=" in mails.sent[-1].text
    assert "scheduled for deletion" in reader.get("/account", 400)


def test_sole_owner_sees_the_names_of_the_workspaces(
    reader: PageReader, ada: Person, person: MakePerson
) -> None:
    ada.api().post("/workspaces", json={"name": "Engines", "slug": "engines"})
    bob = person("bob")
    ada.api().post("/workspaces/engines/members", json={"email": bob.email})
    invitation = bob.api().get("/invitations").json[0]["id"]
    bob.api().post(f"/invitations/{invitation}/accept")
    for text in (
        reader.get("/account/delete"),
        reader.send_rejected("/account/delete", 409, password=ada.password),
    ):
        assert "You are the only owner" in visible_text(text)
        assert "<bdi>Engines</bdi>" in text
        assert 'href="/workspaces/engines"' in text
        assert 'href="/workspaces/engines/settings#delete"' in text
        assert 'name="password"' not in text
    changed = {"type": "owner"}
    ada.api().patch(f"/workspaces/engines/members/{bob.id}", json=changed)
    assert 'name="password"' in reader.get("/account/delete")


def test_only_root_sees_that_another_root_is_needed(app: Flask, person: MakePerson) -> None:
    root = person("root", role="root")
    reader = PageReader(app, root)
    text = reader.get("/account/delete")
    assert "Give another account the role root first." in text
    assert 'name="password"' not in text
    person("second", role="root")
    assert 'name="password"' in reader.get("/account/delete")


def test_disabled_features_are_not_shown(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app()
    reader = PageReader(app, person("eve", into=app))
    text = reader.get("/account")
    assert "/account/delete" not in text
    assert "/account/exports" not in text
    reader.get("/account/delete", status=404)
    reader.send_rejected("/account/exports", 404)
    reader.send_rejected("/account/delete", 404, password="x")


@pytest.mark.parametrize("action", ["", "/exports", "/delete"])
def test_forms_redirect_anonymous_visitors_to_sign_in(app: Flask, action: str) -> None:
    answer = PageReader(app).post(f"/account{action}")
    assert answer.headers["Location"].startswith("/sign-in")
