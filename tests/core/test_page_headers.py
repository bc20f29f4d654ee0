"""Headers of Frontdesk's pages and of sign-outs, which other responses do not have."""

from __future__ import annotations

import re

from flask import Flask

from app import Frontdesk, blueprints
from app.accounts.account import Account
from app.auth.settings import AuthSettings
from app.core.web.pages import PAGE_HEADERS
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN, CookieBrowser
from ..rigs.hosts import HostSettings, plain_app


@for_each(
    ("path", "status"),
    [("/sign-in", 200), ("/nowhere", 404), ("/api/v1/docs", 200), ("/account", 303)],
)
def test_pages_are_isolated_and_request_no_device(app: Flask, path: str, status: int) -> None:
    answer = app.test_client().get(path, base_url=HOST, headers={"Accept": "text/html"})
    assert answer.status_code == status
    is_page = status != 303
    for name, value in PAGE_HEADERS.items():
        assert answer.headers.getlist(name) == ([value] if is_page else []), name


def test_permissions_policy_denies_devices_and_keeps_passkeys(app: Flask) -> None:
    answer = app.test_client().get("/sign-in", base_url=HOST)
    given = dict(re.findall(r"([\w-]+)=(\([^)]*\))", answer.headers["Permissions-Policy"]))
    assert {given[name] for name in ("camera", "microphone", "geolocation", "usb")} == {"()"}
    for name in ("publickey-credentials-get", "publickey-credentials-create", "clipboard-write"):
        assert given[name] == "(self)"


@for_each("path", ["/health", "/openapi.json", "/account"])
def test_clients_on_other_origins_can_show_data(api: Api, ada: Person, path: str) -> None:
    headers = ada.api().get(path).headers
    assert not PAGE_HEADERS.keys() & set(dict(headers))
    assert "Clear-Site-Data" not in headers


def test_every_sign_out_clears_only_the_http_cache(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__COOKIE_SESSIONS="on")
    ada = person("ada", into=app)
    browser = CookieBrowser(app)
    entered = browser.sign_in(ada)
    ended = browser.delete("/session")
    assert "Clear-Site-Data" not in entered.headers
    browser.sign_in(ada)
    page = browser.client.post("/sign-out", base_url=HOST, headers=SAME_ORIGIN)
    assert page.status_code == 303
    everywhere = ada.api().delete("/logout")
    for answer in (ended, page, everywhere):
        assert answer.headers.getlist("Clear-Site-Data") == ['"cache"']


def test_pages_of_an_application_get_no_headers() -> None:
    class Settings(HostSettings):
        AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="alone")

    host, db = plain_app()
    Frontdesk().init_app(host, db, settings=Settings(), account_model=Account)
    host.register_blueprint(blueprints.console, url_prefix="/desk")
    host.add_url_rule("/own", view_func=lambda: "<!doctype html><title>own</title>")
    with host.app_context():
        db.create_all()
    own = host.test_client().get("/own").headers
    ours = host.test_client().get("/desk/sign-in").headers
    assert not PAGE_HEADERS.keys() & set(dict(own))
    assert PAGE_HEADERS.keys() <= set(dict(ours))
