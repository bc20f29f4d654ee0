"""Builds the React example and uses it in Chromium, in both deployments of its page.

`make versions` runs this file (scripts/versions.py), because npm installs packages from the
network: `make test` does not collect it by its name.
"""

from __future__ import annotations

import os
import re
import sqlite3
from base64 import b32decode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import time

import pytest
from flask import Flask
from playwright.sync_api import Browser, Locator, Page, expect

from app.auth.mfa.totp import STEP_SECONDS, code_at

from ..conftest import PASSWORD, SECRET, Backend, MakePerson, only_on
from ..rigs.axe import serious_violations
from ..rigs.backends import free_port
from ..rigs.clients.generating import HERE as CLIENTS
from ..rigs.guides import page as text_of
from ..rigs.guides import tabs
from ..rigs.npm import install
from ..rigs.react import Deployment, FrontEnd, deployed
from ..rigs.servers import gunicorn

POLL = 30_000
PICTURES = os.environ.get("FRONTDESK_SCREENS")
# Each short type of the example accepts every value of the generated type.
COMPARE_TYPES = """
import type * as short from "./api";
import type { components } from "./schema";

type Schemas = components["schemas"];
declare const generated: {
  account: Schemas["NamedAccount"];
  session: Schemas["CookieSessionRead"];
  profile: Schemas["ProfileRead"];
  item: Schemas["InboxItemRead"];
  error: Schemas["FaultRead"];
};
export const account: short.Account = generated.account;
export const session: short.Session = generated.session;
export const profile: short.Profile = generated.profile;
export const item: short.InboxItem = generated.item;
export const error: short.FieldError = generated.error;
"""
CREATE_ACCOUNTS = f"""
for name in ("Ada", "Bob", "Cleo", "Dana", "Eve"):
    frontdesk.accounts.create(f"{{name.lower()}}@example.com", {PASSWORD!r}, name=name)
"""


def service_settings() -> dict[str, str]:
    """Return the variables that the guide exports for the service."""
    *_, tab = tabs(text_of("react"), "service")
    return dict(re.findall(r"^ *export (\w+)=(.*)$", tab, re.MULTILINE))


@dataclass
class Visitor:
    """A person at the page, in a separate browser."""

    page: Page
    messages: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.page.get_by_role("heading", level=1).wait_for()

    def fill(self, **values: str) -> None:
        for label, value in values.items():
            self.page.get_by_label(label.replace("_", " "), exact=True).fill(value)

    def select(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        self.fill(Email_address=f"{name}@example.com", Password=password)
        self.select("Sign in")

    def sees(self, text: str) -> Locator:
        found = self.page.get_by_text(text, exact=True)
        expect(found.first).to_be_visible()
        return found.first

    def is_at(self, label: str, error: str) -> None:
        """Check that the focus is at a field, which shows an error."""
        field = self.page.get_by_label(label, exact=True)
        expect(field).to_have_accessible_description(error)
        expect(field).to_be_focused()

    def looks(self, name: str) -> None:
        """Check the present state: no violation of WCAG, no scrolling to the side."""
        for width in (1280, 360):
            self.page.set_viewport_size({"width": width, "height": 800})
            for theme in ("light", "dark"):
                self.page.emulate_media(color_scheme=theme)
                assert serious_violations(self.page) == [], (name, width, theme)
                assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                if PICTURES:
                    path = Path(PICTURES) / f"{name}-{width}-{theme}.png"
                    self.page.screenshot(path=path, full_page=True)


@pytest.fixture(scope="module")
def deployment(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with deployed(python, tmp_path_factory.mktemp("react")) as deployment:
        deployment.pinboard.run(CREATE_ACCOUNTS)
        yield deployment


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    context = browser.new_context(
        ignore_https_errors=True, locale="en-GB", timezone_id="Europe/Berlin"
    )
    page = context.new_page()
    page.clock.install()
    visitor = Visitor(page)
    # The browser logs each response with an error status, which these tests ask for.
    page.on(
        "console",
        lambda message: (
            visitor.messages.append(message.text)
            if message.type in ("error", "warning")
            and "Failed to load resource" not in message.text
            else None
        ),
    )
    page.on("pageerror", lambda error: visitor.messages.append(str(error)))
    yield visitor
    context.close()
    # Also what the Content-Security-Policy blocks.
    assert visitor.messages == []


def notify(deployment: Deployment, name: str, title: str) -> None:
    receiver = f'frontdesk.accounts.get("{name}@example.com")'
    deployment.pinboard.run(f'frontdesk.notify("{title}", "Milk is out.", receivers=[{receiver}])')


def expire_sessions(deployment: Deployment) -> None:
    """End all sessions by their age; the browsers keep their cookies."""
    database = deployment.pinboard.folder / "instance" / "pinboard.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        changed = connection.execute(
            "UPDATE frontdesk_sessions SET expires_at = '2020-01-01 00:00:00.000000'"
        )
        assert changed.rowcount > 0


def add_second_factor(deployment: Deployment, page: Page, name: str) -> str:
    """Add an authenticator app to an account over the API, and return its next code."""
    api = f"{deployment.one}/api"
    signed_in = page.request.post(
        f"{api}/login", form={"username": f"{name}@example.com", "password": PASSWORD}
    )
    token = signed_in.json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    app = page.request.post(f"{api}/authenticators/totp", headers=headers, data={}).json()
    secret, step = b32decode(app["secret"]), int(time()) // STEP_SECONDS
    data = {"otp": code_at(secret, step)}
    path = f"{api}/authenticators/{app['id']}/confirm"
    assert page.request.post(path, headers=headers, data=data).ok
    return code_at(secret, step + 1)


def test_visitor_signs_in_reads_the_inbox_and_signs_out(
    deployment: Deployment, visitor: Visitor
) -> None:
    visitor.open(deployment.one)
    visitor.looks("sign-in")
    visitor.sign_in("ada", "wrong")
    expect(visitor.sees("The email address or the password is incorrect.")).to_be_focused()
    visitor.looks("wrong-password")

    visitor.sign_in("ada")
    expect(visitor.sees("Hello, Ada")).to_be_focused()
    visitor.sees("0 unread")
    visitor.sees("No notifications yet.")
    visitor.looks("empty-inbox")

    visitor.page.clock.fast_forward(POLL)
    notify(deployment, "ada", "Bob pinned a note")
    visitor.page.clock.fast_forward(POLL)
    visitor.sees("1 unread")
    visitor.looks("inbox")
    visitor.select("Mark as read")
    visitor.sees("0 unread")
    expect(visitor.sees("Mark as unread")).to_be_focused()
    visitor.looks("read")

    visitor.select("Sign out")
    visitor.sees("You are signed out.")
    visitor.looks("signed-out")
    visitor.page.reload()
    visitor.sees("Create an account")


def test_expired_session_leads_to_the_sign_in(deployment: Deployment, visitor: Visitor) -> None:
    visitor.open(deployment.one)
    visitor.sign_in("bob")
    visitor.sees("Hello, Bob")
    expire_sessions(deployment)
    visitor.page.clock.fast_forward(POLL)
    visitor.sees("Your session has ended. Sign in again.")
    visitor.looks("session-ended")
    visitor.sign_in("bob")
    visitor.sees("Hello, Bob")


def test_sign_in_asks_for_the_second_factor(deployment: Deployment, visitor: Visitor) -> None:
    code = add_second_factor(deployment, visitor.page, "cleo")
    visitor.open(deployment.one)
    visitor.sign_in("cleo")
    visitor.sees("Enter your code")
    visitor.looks("second-factor")
    visitor.fill(Code="000000")
    visitor.select("Continue")
    expect(visitor.sees("The code is incorrect.")).to_be_focused()
    visitor.fill(Code=code)
    visitor.select("Continue")
    visitor.sees("Hello, Cleo")


def test_rate_limit_names_the_time_to_wait(deployment: Deployment, visitor: Visitor) -> None:
    visitor.open(deployment.one)
    for _ in range(5):
        visitor.sign_in("dana", "wrong")
        visitor.sees("The email address or the password is incorrect.")
    visitor.sign_in("dana")
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_have_text(re.compile(r"Too many failed attempts\. Try again in \d+ minutes\."))
    visitor.looks("rate-limit")


def test_new_user_signs_up_and_creates_a_profile(deployment: Deployment, visitor: Visitor) -> None:
    visitor.open(deployment.one)
    visitor.select("Create an account")
    visitor.looks("sign-up")
    visitor.fill(Name="Fay", Email_address="fay", Password=PASSWORD)
    visitor.select("Create account")
    visitor.is_at("Email address", "Enter a valid email address.")
    visitor.looks("sign-up-error")
    visitor.fill(Email_address="fay@example.com", Password="short")
    visitor.select("Create account")
    visitor.is_at("Password", "Enter at least 8 characters.")
    visitor.fill(Password=PASSWORD)
    visitor.select("Create account")
    visitor.sees("Check your email")
    visitor.looks("verification")
    visitor.fill(Code=deployment.pinboard.last_code())
    visitor.select("Verify email address")
    visitor.sees("Hello, Fay")

    visitor.fill(First_name="Fay", Last_name="Moss", Gender="female", Marital_status="single")
    visitor.select("Create profile")
    visitor.is_at("Date of birth", "Enter a date.")
    visitor.looks("profile-error")
    visitor.fill(Date_of_birth="1990-02-03")
    visitor.select("Create profile")
    visitor.sees("Fay Moss")
    visitor.looks("profile")


def test_page_of_another_origin_works_with_cors(deployment: Deployment, visitor: Visitor) -> None:
    visitor.open(deployment.other)
    visitor.sign_in("eve")
    visitor.sees("Hello, Eve")
    notify(deployment, "eve", "Ada pinned a note")
    visitor.page.clock.fast_forward(POLL)
    visitor.select("Mark as read")
    visitor.sees("Mark as unread")
    visitor.page.reload()
    visitor.sees("Hello, Eve")
    visitor.select("Sign out")
    visitor.sees("You are signed out.")


def test_page_says_that_the_server_is_unreachable(deployment: Deployment, visitor: Visitor) -> None:
    visitor.page.route("**/api/session", lambda route: route.abort())
    visitor.page.goto(deployment.one)
    visitor.sees("The server cannot be reached.")
    visitor.looks("unreachable")
    visitor.page.unroute("**/api/session")
    visitor.select("Try again")
    visitor.sees("Create an account")
    visitor.messages.clear()


def test_development_server_forwards_requests_to_the_api(
    deployment: Deployment, visitor: Visitor, tmp_path: Path
) -> None:
    service, port = free_port(), free_port()
    front_end = FrontEnd.prepare(tmp_path / "react")
    with deployment.pinboard.serve(service, "debug"), front_end.develop(port, service):
        visitor.open(f"http://127.0.0.1:{port}")
        visitor.sign_in("bob")
        visitor.sees("Hello, Bob")
        visitor.sees("0 unread")
        visitor.page.clock.fast_forward(POLL)
        # The browser stores responses and their ETag only with a valid certificate, or without TLS.
        deployment.pinboard.wait_for('"GET /api/notifications/unread-count HTTP/1.1" 304 ')


@only_on("sqlite")
def test_example_works_with_the_service(
    app: Flask, backend: Backend, person: MakePerson, visitor: Visitor, tmp_path: Path
) -> None:
    person("ada")
    settings = {
        "SECRET_KEY": SECRET,
        "FLASK_DEBUG": "1",
        "CORE__DATABASE_URL": backend.database_url,
        "AUTH__BCRYPT_ROUNDS": "4",
        **service_settings(),
    }
    paths = {"VITE_API": "/api/v1/"}
    port, front_end = free_port(), FrontEnd.prepare(tmp_path / "react")
    with gunicorn(settings, tmp_path / "log") as service, front_end.develop(port, service, **paths):
        visitor.open(f"http://127.0.0.1:{port}")
        visitor.sign_in("ada")
        visitor.sees("Hello, ada@example.com")
        visitor.sees("No notifications yet.")
        expect(visitor.page.get_by_label("First name")).to_be_visible()


def test_types_agree_with_the_openapi_document(
    deployment: Deployment, browser: Browser, tmp_path: Path
) -> None:
    install(CLIENTS)
    front_end = FrontEnd.prepare(tmp_path / "react")
    source = front_end.folder / "src"
    context = browser.new_context(ignore_https_errors=True)
    document = context.request.get(f"{deployment.one}/api/openapi.json")
    (tmp_path / "openapi.json").write_bytes(document.body())
    context.close()
    generator = CLIENTS / "node_modules" / ".bin" / "openapi-typescript"
    front_end.run(str(generator), str(tmp_path / "openapi.json"), "-o", str(source / "schema.ts"))
    (source / "compare.ts").write_text(COMPARE_TYPES)
    front_end.run("npx", "tsc")
