"""Reading the cookie of a request: only one complete, valid cookie authenticates."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask

from app import account_optional, current_account
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import NAME, CookieBrowser, RawCookieClient, set_cookie, stored_sessions


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app(AUTH__COOKIE_SESSIONS="on")

    @app.get("/api/v1/welcome")
    @account_optional
    def welcome() -> dict[str, str | None]:
        return {"email": current_account.email if current_account else None}

    return app


@pytest.fixture
def browser(app: Flask, ada: Person) -> CookieBrowser:
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    return browser


@pytest.fixture
def bare(app: Flask) -> RawCookieClient:
    return RawCookieClient(app)


def test_cookie_is_found_among_others(browser: CookieBrowser, bare: RawCookieClient) -> None:
    for header in (
        f"{NAME}={browser.cookie}",
        f"theme=dark; {NAME}={browser.cookie}; other=1",
        f"theme;;  =; {NAME}={browser.cookie}\t;ä=ö",
        f"fd=x; __Secure-fd=y; {NAME.lower()}=z; {NAME}={browser.cookie}",
    ):
        assert bare.ask(header, 200).json["email"] == "ada@example.com"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer a.b.c", "Basic YTpi"])
def test_invalid_header_is_not_replaced_by_a_cookie(browser: CookieBrowser, header: str) -> None:
    browser.get("/account", 401, headers={"Authorization": header})


def test_authorization_header_takes_precedence_over_the_cookie(
    browser: CookieBrowser, person: MakePerson
) -> None:
    token = {"Authorization": f"Bearer {person('grace').token()}"}
    assert browser.get("/account", headers=token).json["email"] == "grace@example.com"
    # No cross-site check: browsers never add an Authorization header by themselves.
    elsewhere = {**token, "Sec-Fetch-Site": "cross-site"}
    browser.patch("/account", json={"phone": None}, headers=elsewhere)


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "a",
        "=" * 64,
        "ä" * 32,
        "A" * 63,
        "A" * 64,
        "A" * 65,
        "A" * 60_000,
        '"' + "A" * 64 + '"',
        "A" * 62 + "==",
        "%41" * 22,
        "a.b.c",
        "null",
        "A" * 63 + "\x00",
        "A" * 63 + "٣",
    ],
    ids=lambda each: each[-8:],
)
def test_malformed_cookie_is_rejected(bare: RawCookieClient, malformed: str) -> None:
    answer = bare.ask(f"{NAME}={malformed}", 401)
    assert answer.json["code"] == "invalid_credentials"
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_invalid_cookie_is_ignored_where_the_caller_is_optional(bare: RawCookieClient) -> None:
    path, token = "/account/email/confirm", {"token": "x" * 40}
    for cookie in ("", f"{NAME}={'A' * 64}", f"{NAME}={'A' * 63}"):
        answer = bare.post(path, 400, json=token, headers={"Cookie": cookie})
        assert answer.json["code"] == "invalid_token"


@only_on("sqlite")
def test_random_cookies_are_rejected(browser: CookieBrowser, bare: RawCookieClient) -> None:
    """Random bytes, and valid cookies with one changed byte."""
    chance = Random(17)
    for attempt in range(3000):
        value = bytearray((browser.cookie or "").encode())
        if attempt % 3:
            value[chance.randrange(64)] = chance.choice(b'AZaz09-_ =;,"\\%\x00\x7f')
        else:
            value = bytearray(chance.randbytes(chance.randrange(200)))
        value = value.translate(None, b"\r\n")
        if value.decode("latin-1").strip(" \t;") != browser.cookie:
            bare.get("/account", 401, headers={"Cookie": f"{NAME}={value.decode('latin-1')}"})


def test_malformed_cookie_runs_no_query(app: Flask, bare: RawCookieClient) -> None:
    with noted_queries(app) as queries:
        bare.ask(f"{NAME}={'A' * 65}", 401)
        bare.ask(f"{NAME}={'A' * 64}; {NAME}={'A' * 64}", 401)
    # Rejected credentials add no entry to the audit log either.
    assert queries == []


def test_cookie_with_another_session_or_secret_is_rejected(
    app: Flask, browser: CookieBrowser
) -> None:
    cookie = urlsafe_b64decode(browser.cookie or "")
    other = CookieBrowser(app)
    for made in (
        cookie[:16] + bytes(32),
        uuid4().bytes + cookie[16:],
        cookie[:-1] + bytes([cookie[-1] ^ 1]),
        cookie[16:] + cookie[:16],
    ):
        other.use_cookie(urlsafe_b64encode(made).decode())
        other.get("/account", 401)
    other.use_cookie(browser.cookie or "")
    other.get("/account")


def test_stored_value_is_not_a_valid_cookie(app: Flask, browser: CookieBrowser) -> None:
    cookie = urlsafe_b64decode(browser.cookie or "")
    (stored,) = stored_sessions(app)
    assert stored.public_id == UUID(bytes=cookie[:16])
    assert stored.secret == sha256(cookie[16:]).digest()
    attacker = CookieBrowser(app)
    attacker.use_cookie(urlsafe_b64encode(stored.public_id.bytes + stored.secret).decode())
    attacker.get("/account", 401)


def test_duplicate_cookie_is_rejected(browser: CookieBrowser, bare: RawCookieClient) -> None:
    good = f"{NAME}={browser.cookie}"
    for header in (f"{good}; {good}", f"{good}; {NAME}=x", f"{NAME}=; {good}"):
        bare.ask(header, 401)


@pytest.mark.parametrize(
    "name",
    [
        "fd",
        "__Secure-fd",
        "__host-fd",
        "__HOST-FD",
        "\u2003__Host-fd",
        "\u00a0__Host-fd",
        "\u0085__Host-fd",
        "\x0b__Host-fd",
        "__Host-fd\u3000",
        "__Host-fd\x1f",
    ],
    ids=ascii,
)
def test_cookie_name_that_other_origins_can_set_is_ignored(
    browser: CookieBrowser, bare: RawCookieClient, name: str
) -> None:
    """Browsers reserve the `__Host-` prefix and compare names exactly; so does the service."""
    bare.ask(f"{name}={browser.cookie}", 401)
    # A cookie with a similar name does not affect the real cookie.
    bare.ask(f"{name}=planted; {NAME}={browser.cookie}", 200)


def test_token_and_cookie_are_not_interchangeable(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    other = CookieBrowser(app)
    other.get("/account", 401, headers={"Authorization": f"Bearer {browser.cookie}"})
    other.use_cookie(ada.token())
    other.get("/account", 401)
    # The stored session of a token, encoded like a cookie.
    row = next(each for each in stored_sessions(app) if each.kind == "token")
    other.use_cookie(urlsafe_b64encode(row.public_id.bytes + row.secret).decode())
    other.get("/account", 401)


def test_cookie_needs_one_query_and_no_state_store(
    app: Flask, browser: CookieBrowser, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_token = ada.api()
    reads: list[str] = []
    keystore = app.extensions["frontdesk"].keystore
    original_get = keystore.get

    def record_read(key: str) -> Any:
        reads.append(key)
        return original_get(key)

    monkeypatch.setattr(keystore, "get", record_read)
    for name in ("get_many", "put", "count", "take", "remaining"):
        monkeypatch.setattr(keystore, name, lambda *_, name=name: reads.append(name))
    with noted_queries(app) as queries:
        browser.get("/account")
    assert len(queries) == 1
    assert reads == []
    by_token.get("/account")
    assert reads == []


@pytest.mark.parametrize("ended", ["signed out", "expired", "malformed", "unknown", "password"])
def test_ended_cookie_is_deleted_where_the_caller_is_optional(
    app: Flask, ada: Person, browser: CookieBrowser, clock: SteppingClock, ended: str
) -> None:
    end_session(ada, browser, clock, ended)
    visit = browser.get("/welcome")
    assert visit.json == {"email": None}
    assert f"{NAME}=; " in set_cookie(visit)
    assert "Max-Age=0" in set_cookie(visit)
    assert browser.cookie is None
    again = browser.get("/welcome")
    assert (again.json, again.headers.getlist("Set-Cookie")) == ({"email": None}, [])
    browser.sign_in(ada)
    assert browser.get("/welcome").json == {"email": ada.email}


def test_optional_caller_with_ended_cookie_and_invalid_token_is_rejected(
    ada: Person, browser: CookieBrowser, clock: SteppingClock
) -> None:
    end_session(ada, browser, clock, "expired")
    browser.get("/welcome", 401, headers={"Authorization": "Bearer a.b.c"})


def end_session(ada: Person, browser: CookieBrowser, clock: SteppingClock, how: str) -> None:
    if how == "signed out":
        ada.app.test_cli_runner().invoke(args=["accounts", "sign-out", ada.email])
    elif how == "expired":
        clock.step(days=400)
    elif how == "password":
        ada.change(password="a password never seen before")
        ada.password = "a password never seen before"
    else:
        browser.use_cookie("A" * 64 if how == "unknown" else "malformed")
