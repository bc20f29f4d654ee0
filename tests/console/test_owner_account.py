"""The owner's account: its details, what happened to it, a copy of it, and its end."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from flask import Flask

from app.extension.actions import ACTIONS
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox, ManualEngine

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.world import PROFILE
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .reader import Reader, fault_of, said, visible


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__ACCOUNT_EXPORTS="on", AUTH__ACCOUNT_DELETION="on")


@pytest.fixture
def reader(app: Flask, ada: Person) -> Reader:
    return Reader(app, ada)


def test_details_are_said_and_taken_back(reader: Reader, ada: Person) -> None:
    given = {"phone": "+44 20 7946 0000", "locale": "pt-BR", "time_zone": "Europe/London"}
    assert said(reader.send("/account", **given)) == "Details saved."
    account = ada.api().get("/account").json
    assert account["phone"] == "+442079460000"
    assert (account["locale"], account["time_zone"]) == ("pt-BR", "Europe/London")
    text = reader.get("/account")
    assert '<option value="Europe/London" selected>' in text
    reader.send("/account", phone="", locale="", time_zone="")
    account = ada.api().get("/account").json
    assert (account["phone"], account["locale"], account["time_zone"]) == (None, None, None)


def test_what_is_no_phone_is_said_at_the_field(reader: Reader) -> None:
    text = reader.refused("/account", 422, phone="none of your business", time_zone="UTC")
    assert fault_of(text, "phone")
    assert 'value="none of your business"' in text
    assert '<option value="UTC" selected>' in text


def test_a_language_that_a_client_has_set_stays(reader: Reader, ada: Person) -> None:
    ada.api().patch("/account", json={"locale": "gsw", "time_zone": "US/Pacific"})
    text = reader.get("/account")
    assert '<option value="gsw" selected>' in text
    assert '<option value="US/Pacific" selected>' in text


@pytest.mark.parametrize(
    ("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("system", None), ("x", None)]
)
def test_the_appearance_is_the_browsers(reader: Reader, chosen: str, kept: str | None) -> None:
    reader.send("/appearance", theme="dark")
    text = reader.send("/appearance", theme=chosen)
    found = re.search(r'<html[^>]* data-theme="(\w+)"', text)
    assert (found[1] if found else None) == kept


def test_who_is_not_in_may_choose_too(app: Flask) -> None:
    reader = Reader(app)
    reader.here = "/sign-in"
    assert 'data-theme="dark"' in reader.send("/appearance", theme="dark")


def theme_cookies(app: Flask, chosen: str, base_url: str, **sent: str) -> list[str]:
    """The cookies of the theme that choosing one sets, `sent` being those of the browser."""
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


def test_it_tells_what_happened_and_from_where(app: Flask, ada: Person, person: MakePerson) -> None:
    ada.api().post("/profiles", json=PROFILE)
    admin = person("boss", role="admin").api()
    admin.put(f"/profiles/{ada.id}", json={"city": "Ockham"})
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    reader = Reader(app)
    form = {"email": ada.email, "password": ada.password}
    reader.post("/sign-in", data=form, headers={"User-Agent": agent})
    text = visible(reader.get("/account/activity"))
    assert "Signed in Firefox on Linux · 127.0.0.1" in text
    assert "Account created By the service" in text
    assert "Profile changed By an operator" in text


def test_activity_goes_on_from_page_to_page(reader: Reader) -> None:
    for number in range(35):
        reader.send("/account", phone=f"+44207946{number:04}")
    assert "Show all activity" in visible(reader.get("/account"))
    text = reader.get("/account/activity")
    assert text.count('<li class="entry">') == 30
    older = re.search(r'href="(/account/activity\?after=[^"]+)"', text)
    assert older
    assert "Signed in" in visible(reader.get(older[1]))
    reader.get("/account/activity?after=nonsense", status=422)


def test_each_action_has_one_title() -> None:
    titles = [action.title for action in ACTIONS.values()]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if not title[:1].isupper()] == []


def test_a_copy_is_asked_for_waited_for_and_fetched(
    reader: Reader, engine: ManualEngine, ada: Person
) -> None:
    assert "Request export" in visible(reader.get("/account"))
    assert said(reader.send("/account/exports")) == "Your export is being created."
    part = reader.get("/account/exports/newest")
    assert "hx-trigger" in part
    assert "being created" in visible(part)
    engine.deliver()
    part = reader.get("/account/exports/newest")
    assert "hx-trigger" not in part
    link = re.search(r'href="(/account/exports/\d+/file)"', part)
    assert link
    answer = reader.ask("GET", link[1], 200)
    assert answer.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.get_data())) as archive:
        assert ada.email.encode() in b"".join(archive.read(name) for name in archive.namelist())
    text = reader.refused("/account/exports", 429)
    assert "Try again in 24 hours" in visible(text)


def test_a_copy_is_its_owners_alone(
    app: Flask, reader: Reader, engine: ManualEngine, person: MakePerson
) -> None:
    reader.send("/account/exports")
    engine.deliver()
    link = re.search(r'href="(/account/exports/\d+/file)"', reader.get("/account"))
    assert link
    other = Reader(app, person("bob"))
    other.get(link[1], status=404)
    assert "Request export" in visible(other.get("/account"))


def test_a_copy_asks_for_a_fresh_sign_in(reader: Reader, clock: SteppingClock) -> None:
    reader.get("/account")
    clock.step(minutes=16)
    assert "next=/account" in reader.post("/account/exports").headers["Location"]


def test_an_account_is_deleted_with_its_password_and_days_of_grace(
    reader: Reader, ada: Person, mails: MailOutbox
) -> None:
    text = visible(reader.get("/account/delete"))
    assert "deleted after 14 days" in text
    text = reader.refused("/account/delete", 400, password="not the password")
    assert "Delete my account" in visible(text)
    assert "not the password" not in text
    text = reader.send("/account/delete", password=ada.password)
    assert reader.here.startswith("/sign-in")
    assert "Your account will be deleted on" in said(text)
    assert "/keep-account?token=" in mails.sent[-1].text
    assert "scheduled for deletion" in reader.get("/account", 400)


def test_the_only_owner_of_a_workspace_is_told_which(
    reader: Reader, ada: Person, person: MakePerson
) -> None:
    ada.api().post("/workspaces", json={"name": "Engines", "slug": "engines"})
    bob = person("bob")
    ada.api().post("/workspaces/engines/members", json={"email": bob.email})
    invitation = bob.api().get("/invitations").json[0]["id"]
    bob.api().post(f"/invitations/{invitation}/accept")
    text = visible(reader.refused("/account/delete", 409, password=ada.password))
    assert "engines" in text


def test_rooms_that_are_off_are_not_shown(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app()
    reader = Reader(app, person("eve", into=app))
    text = reader.get("/account")
    assert "/account/delete" not in text
    assert "/account/exports" not in text
    reader.get("/account/delete", status=403)
    reader.refused("/account/exports", 403)
    reader.refused("/account/delete", 403, password="x")


@pytest.mark.parametrize("action", ["", "/exports", "/delete"])
def test_nobody_does_anything(app: Flask, action: str) -> None:
    answer = Reader(app).post(f"/account{action}")
    assert answer.headers["Location"].startswith("/sign-in")
