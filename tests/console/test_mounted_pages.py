"""An application shows the console's pages of the blueprints that it mounts, and no others."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException

from app import AuthSettings, Frontdesk, blueprints
from app.accounts.account import Account
from app.console.resources import NEEDS, PROVIDERS
from app.console.routes import PAGE, ROUTES
from app.core.config.settings import CoreSettings
from app.testing import Kit
from app.testing.database import noted_queries
from app.testing.fakes import Fakes
from app.testing.people import PASSWORD, make_person

from ..rigs.console.world import PROFILE, TEAM
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.hosts import HostSettings, plain_app

ALL = (
    *("auth", "registration", "sessions", "mfa", "passkeys", "login_codes", "exports", "deletion"),
    *("workspaces", "invitations", "profiles", "notifications", "admin_notifications"),
    *("administration", "events", "banners", "unsubscribe", "tokens"),
)
# What the console must not mention without each blueprint: paths of pages, and texts of pages.
HIDDEN = {
    "registration": (["/register"], ["New here?"]),
    "notifications": (["/dashboard", "/account/notifications"], ["Go to inbox", "Choose notif"]),
    "unsubscribe": (["/unsubscribe"], []),
    "profiles": (["/profile"], [">Profile<"]),
    "events": (
        ["/admin/events", "/account/activity", f"/workspaces/{TEAM}/activity"],
        [">Events<"],
    ),
    "exports": (["/account/exports"], ["All data of your account"]),
    "deletion": (["/account/delete"], ["The next page lists the data"]),
    "workspaces": (
        ["/workspaces", "/admin/workspaces"],
        [">All workspaces<", "Add to a workspace"],
    ),
    "invitations": (
        ["/invitations", "/invitation", f"/workspaces/{TEAM}/invitations"],
        [">Invitations<", ">Invite<", "Pending invitations"],
    ),
    "administration": (
        ["/admin/accounts", "/admin/workspaces", "/admin/mails", "/admin/settings"],
        [">Overview<", ">Accounts<", ">Emails<"],
    ),
    "admin_notifications": (
        ["/admin/broadcasts", "/admin/deliveries"],
        [">Broadcasts<", "Sent messages", ">Queued<", "Email…"],
    ),
    "banners": (["/admin/banners"], [">Banners<", 'class="banner']),
    "tokens": (
        ["/security/tokens", f"/workspaces/{TEAM}/tokens"],
        [">Tokens<", "Tokens for programs still work", "fdp_"],
    ),
}
ALWAYS = ("/sign-in", "/forgot", "/verify", "/account", "/security", "/security/sessions")


class Settings(HostSettings):
    CORE = CoreSettings(PROJECT_NAME="Host", LOG_LEVEL="ERROR", PUBLIC_URL=HOST, CONSOLE_PATH="/")
    AUTH = AuthSettings(
        BCRYPT_ROUNDS=4,
        COOKIE_SESSIONS="alone",
        SESSIONS="on",
        MFA="optional",
        PASSKEYS="on",
        LOGIN_BY_CODE="on",
        REGISTRATION="open",
        ACCOUNT_EXPORTS="on",
        ACCOUNT_DELETION="on",
        PERSONAL_TOKENS="on",
        RATE_LIMITS_ENABLED=False,
    )


def make_app(file: Path, names: Iterable[str], *, frontdesk: Frontdesk | None = None) -> Flask:
    """Return an application with the console and blueprints that are mounted after it."""
    host, db = plain_app(f"sqlite:///{file}")
    frontdesk = frontdesk or Frontdesk()
    frontdesk.init_app(host, db, settings=Settings(), account_model=Account)
    host.register_blueprint(blueprints.console)
    frontdesk.mount(host, "/api/v1", only=list(names))
    with host.app_context():
        db.create_all()
    return host


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with rows for each page: a user and a root account who share them."""
    file = tmp_path_factory.mktemp("mounted") / "seeded.db"
    app = make_app(file, ALL)
    ada = make_person(app, "ada", prefix="/api/v1")
    root = make_person(app, "root", prefix="/api/v1", role="root")
    adas, roots = ada.api(), root.api()
    adas.post("/profiles/", json=PROFILE)
    adas.post("/workspaces", json={"name": "Engines", "slug": TEAM})
    adas.post(f"/workspaces/{TEAM}/invitations", 201, json={"emails": ["root@example.com"]})
    token = {"name": "Nightly backup", "scopes": ["account:read"]}
    adas.post("/personal-tokens", 201, json=token)
    roots.post("/workspaces", json={"name": "Roots", "slug": "roots"})
    roots.post("/workspaces/roots/invitations", 201, json={"emails": ["ada@example.com"]})
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}
    roots.post("/admin/notifications", 201, json={"data": data})
    roots.post("/admin/banners", 201, json={"text": "Hello everyone", "audience": "everyone"})
    return file


def copy_of(seeded: Path, folder: Path) -> Path:
    file = folder / "copy.db"
    with closing(sqlite3.connect(seeded)) as source, closing(sqlite3.connect(file)) as copy:
        source.backup(copy)
    return file


def sign_in(app: Flask, name: str) -> FlaskClient:
    client = app.test_client()
    form = {"email": f"{name}@example.com", "password": PASSWORD}
    answer = client.post("/sign-in", data=form, headers=SAME_ORIGIN, base_url=HOST)
    assert answer.status_code == 303
    return client


# Attributes that name a page or a form.
_TARGET = re.compile(r'\b(href|action|formaction|hx-get|hx-post|data-url|src)="([^"#][^"]*)"')


class Walk:
    """All pages that a client reaches by links, and the paths and texts that the pages name."""

    def __init__(self, app: Flask, client: FlaskClient) -> None:
        self.app, self.client = app, client
        self.texts: dict[str, str] = {}
        self.broken: set[str] = set()
        self.endpoints: set[str] = set()
        self.targets: set[str] = set()
        self._visits: Counter[tuple[str, tuple[str, ...]]] = Counter()
        waiting = ["/", "/sign-in", "/account", "/no-such-page"]
        while waiting:
            waiting += self._open(waiting.pop())

    def _open(self, path: str) -> list[str]:
        kind = self._kind(path)
        if kind is None or self._visits[kind] > 1:
            return []
        self._visits[kind] += 1
        answer = self.client.get(path, headers=SAME_ORIGIN, base_url=HOST)
        if answer.status_code in (404, 500):
            self.broken.add(f"GET {path}: {answer.status_code}")
        if location := answer.headers.get("Location"):
            return [location]
        if answer.mimetype != "text/html":
            return []
        self.texts[path] = answer.text
        found = []
        for attribute, escaped in _TARGET.findall(answer.text):
            target = unescape(escaped)
            if not target.startswith("/"):
                continue
            self.targets.add(target)
            if attribute in ("action", "formaction", "hx-post"):
                self._check_form(target)
            found.append(target)
        return found

    def _check_form(self, target: str) -> None:
        """A form of another site changes nothing, but a form that does not exist is not found."""
        headers = {"Sec-Fetch-Site": "cross-site"}
        answer = self.client.post(target, headers=headers, base_url=HOST)
        if answer.status_code in (404, 500):
            self.broken.add(f"POST {target}: {answer.status_code}")

    def _kind(self, path: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the endpoint and the names of the query, or None if it is no page."""
        parts = urlsplit(path)
        try:
            endpoint, _ = self.app.url_map.bind("localhost").match(parts.path, "GET")
        except HTTPException:
            return None
        self.endpoints.add(endpoint)
        return endpoint, tuple(sorted({name for name, _ in parse_qsl(parts.query)}))


def names_of(walk: Walk, prefixes: Iterable[str]) -> list[str]:
    """Return the targets of links and forms that are at one of the paths, or below it."""
    starts = tuple(prefixes)
    return sorted(
        target
        for target in walk.targets
        if any(urlsplit(target).path == each or target.startswith(f"{each}/") for each in starts)
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_console_shows_nothing_of_a_blueprint_that_is_not_mounted(
    name: str, seeded: Path, tmp_path: Path
) -> None:
    file = copy_of(seeded, tmp_path)
    app = make_app(file, [each for each in ALL if each != name])
    paths, texts = HIDDEN[name]
    for person in ("ada", "root"):
        client = sign_in(app, person)
        walk = Walk(app, client)
        assert walk.broken == set()
        assert names_of(walk, paths) == []
        assert [
            (path, text) for path, page in walk.texts.items() for text in texts if text in page
        ] == []
        for path in paths:
            answers = [
                client.open(path, method=method, headers=SAME_ORIGIN, base_url=HOST)
                for method in ("GET", "POST", "OPTIONS")
            ]
            # 405 for a method that no page of this path has, whatever is mounted.
            assert {answer.status_code for answer in answers} - {405} == {404}, path
            for answer in answers:
                if answer.status_code == 404:
                    assert "Page not found" in answer.text
                    assert "Content-Security-Policy" in answer.headers


def test_console_alone_has_the_account_and_nothing_of_other_blueprints(
    seeded: Path, tmp_path: Path
) -> None:
    app = make_app(copy_of(seeded, tmp_path), [])
    for person in ("ada", "root"):
        client = sign_in(app, person)
        walk = Walk(app, client)
        assert walk.broken == set()
        assert names_of(walk, (path for paths, _ in HIDDEN.values() for path in paths)) == []
        start = client.get("/", headers=SAME_ORIGIN, base_url=HOST)
        assert start.headers["Location"] == "/account"
        with noted_queries(app) as queries:
            client.get("/account", base_url=HOST)
        others = re.compile(
            "frontdesk_(inbox|notif|workspace|invit|profile|event|export|audit|banner|personal|token)"
        )
        assert [query for query in queries if others.search(query)] == []


def test_console_with_all_blueprints_has_all_pages(seeded: Path, tmp_path: Path) -> None:
    app = make_app(copy_of(seeded, tmp_path), ALL)
    root, ada = (Walk(app, sign_in(app, name)) for name in ("root", "ada"))
    assert root.broken | ada.broken == set()
    for paths, _ in HIDDEN.values():
        # Links in emails lead to two of them, and a signed-in user does not register.
        for path in {*paths} - {"/invitation", "/unsubscribe", "/register"}:
            assert names_of(root, [path]) or names_of(ada, [path]), path
    client = sign_in(app, "root")
    for method, path, view in ROUTES:
        if method == PAGE and "<" not in path and not path.startswith(("/design", "/outbox")):
            answer = client.get(path, headers=SAME_ORIGIN, base_url=HOST)
            absent = {"/account/exports/newest", "/first-root"}
            absent |= {"/security/identities", "/security/identities/link"}
            assert answer.status_code != 404 or path in absent, (path, view)


@pytest.mark.parametrize("names", [(), ("notifications",), ("profiles",)])
def test_sign_in_leads_to_the_first_page_that_exists(
    names: tuple[str, ...], seeded: Path, tmp_path: Path
) -> None:
    app = make_app(copy_of(seeded, tmp_path), names)
    home = {(): "/account", ("notifications",): "/dashboard", ("profiles",): "/profile"}[names]
    form = {"email": "ada@example.com", "password": PASSWORD}
    client = app.test_client()
    answer = client.post("/sign-in", data=form, headers=SAME_ORIGIN, base_url=HOST)
    assert answer.headers["Location"] == home
    assert client.get(home, headers=SAME_ORIGIN, base_url=HOST).status_code == 200
    assert f'class="brand" href="{home}"' in client.get("/security", base_url=HOST).text
    for path in ALWAYS:
        assert client.get(path, headers=SAME_ORIGIN, base_url=HOST).status_code in (200, 303), path


def test_every_path_of_the_table_starts_a_path_of_the_console() -> None:
    paths = [path for _, path, _ in ROUTES]
    assert [start for start in NEEDS if not any(path.startswith(start) for path in paths)] == []
    assert {name for names in NEEDS.values() for name in names} == {*HIDDEN, PROVIDERS}


@pytest.mark.parametrize(
    ("names", "path"), [((), "/"), (("notifications",), "/dashboard"), (ALL, "/dashboard")]
)
def test_email_of_a_notification_links_to_a_page_that_exists(
    names: tuple[str, ...], path: str, tmp_path: Path, frontdesk_fakes: Fakes
) -> None:
    frontdesk = Frontdesk()
    app = make_app(tmp_path / "new.db", names, frontdesk=frontdesk)
    kit = Kit(app, frontdesk_fakes)
    ada = kit.account("ada")
    with app.app_context():
        frontdesk.notify("Closed", "On Friday.", channels=["email"], receivers=[ada.id])
    kit.deliver()
    assert f"{HOST}{path}\n" in kit.mails.last(ada.email).text


def test_no_link_leads_to_a_hidden_page(seeded: Path, tmp_path: Path) -> None:
    frontdesk = Frontdesk()
    names = ("dashboard", "profile_page", "tokens_page", "managed_workspaces_page")
    admins = ("broadcasts_page", "managed_banners_page", "admin_events_page", "settings_page")
    frontdesk.console.hide("Workspaces", *names, *admins, "mail_templates_page")
    app = make_app(copy_of(seeded, tmp_path), ALL, frontdesk=frontdesk)
    for person in ("root", "ada"):
        assert Walk(app, sign_in(app, person)).broken == set()
