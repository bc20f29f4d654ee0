"""What a request with a cookie shows, over HTTP: one whole cookie of ours, or nobody."""

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
from ..rigs.cookie_browsers import NAME, BareClient, CookieBrowser, set_cookie, stored_sessions


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
def bare(app: Flask) -> BareClient:
    return BareClient(app)


def test_a_whole_one_is_found_among_others(browser: CookieBrowser, bare: BareClient) -> None:
    for written in (
        f"{NAME}={browser.cookie}",
        f"theme=dark; {NAME}={browser.cookie}; other=1",
        f"theme;;  =; {NAME}={browser.cookie}\t;ä=ö",
        f"fd=x; __Secure-fd=y; {NAME.lower()}=z; {NAME}={browser.cookie}",
    ):
        assert bare.ask(written, 200).json["email"] == "ada@example.com"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer a.b.c", "Basic YTpi"])
def test_a_bad_header_is_not_made_up_for_by_a_cookie(browser: CookieBrowser, header: str) -> None:
    browser.get("/account", 401, headers={"Authorization": header})


def test_a_header_wins_over_the_cookie(browser: CookieBrowser, person: MakePerson) -> None:
    token = {"Authorization": f"Bearer {person('grace').token()}"}
    assert browser.get("/account", headers=token).json["email"] == "grace@example.com"
    # It is no page's doing: a browser adds no such header by itself.
    elsewhere = {**token, "Sec-Fetch-Site": "cross-site"}
    browser.patch("/account", json={"phone": None}, headers=elsewhere)


@pytest.mark.parametrize(
    "spoilt",
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
def test_a_malformed_one_is_nobodys(bare: BareClient, spoilt: str) -> None:
    answer = bare.ask(f"{NAME}={spoilt}", 401)
    assert answer.json["code"] == "invalid_credentials"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_an_invalid_cookie_counts_as_none_where_the_caller_is_optional(bare: BareClient) -> None:
    path, token = "/account/email/confirm", {"token": "x" * 40}
    for cookie in ("", f"{NAME}={'A' * 64}", f"{NAME}={'A' * 63}"):
        answer = bare.post(path, 400, json=token, headers={"Cookie": cookie})
        assert answer.json["code"] == "invalid_token"


@only_on("sqlite")
def test_thousands_of_headers_at_random_are_nobodys(
    browser: CookieBrowser, bare: BareClient
) -> None:
    """Bytes of any kind, and whole cookies of which something was changed."""
    chance = Random(17)
    for turn in range(3000):
        value = bytearray((browser.cookie or "").encode())
        if turn % 3:
            value[chance.randrange(64)] = chance.choice(b'AZaz09-_ =;,"\\%\x00\x7f')
        else:
            value = bytearray(chance.randbytes(chance.randrange(200)))
        value = value.translate(None, b"\r\n")
        if value.decode("latin-1").strip(" \t;") != browser.cookie:
            bare.get("/account", 401, headers={"Cookie": f"{NAME}={value.decode('latin-1')}"})


def test_what_is_malformed_costs_no_question(app: Flask, bare: BareClient) -> None:
    with noted_queries(app) as queries:
        bare.ask(f"{NAME}={'A' * 65}", 401)
        bare.ask(f"{NAME}={'A' * 64}; {NAME}={'A' * 64}", 401)
    # But for the records of what was refused, of which credentials are none.
    assert queries == []


def test_one_of_another_session_or_another_secret_is_nobodys(
    app: Flask, browser: CookieBrowser
) -> None:
    held = urlsafe_b64decode(browser.cookie or "")
    other = CookieBrowser(app)
    for made in (
        held[:16] + bytes(32),
        uuid4().bytes + held[16:],
        held[:-1] + bytes([held[-1] ^ 1]),
        held[16:] + held[:16],
    ):
        other.hold(urlsafe_b64encode(made).decode())
        other.get("/account", 401)
    other.hold(browser.cookie or "")
    other.get("/account")


def test_what_is_stored_does_not_open(app: Flask, browser: CookieBrowser) -> None:
    held = urlsafe_b64decode(browser.cookie or "")
    (stored,) = stored_sessions(app)
    assert stored.public_id == UUID(bytes=held[:16])
    assert stored.secret == sha256(held[16:]).digest()
    thief = CookieBrowser(app)
    thief.hold(urlsafe_b64encode(stored.public_id.bytes + stored.secret).decode())
    thief.get("/account", 401)


def test_two_of_the_name_are_nobodys(browser: CookieBrowser, bare: BareClient) -> None:
    good = f"{NAME}={browser.cookie}"
    for written in (f"{good}; {good}", f"{good}; {NAME}=x", f"{NAME}=; {good}"):
        bare.ask(written, 401)


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
def test_a_name_that_a_neighbour_may_set_is_not_taken_for_ours(
    browser: CookieBrowser, bare: BareClient, name: str
) -> None:
    """Browsers keep a prefix for its owner and compare names as they stand; so do we."""
    bare.ask(f"{name}={browser.cookie}", 401)
    # Nor does it disturb the right one.
    bare.ask(f"{name}=planted; {NAME}={browser.cookie}", 200)


def test_a_token_is_no_cookie_and_a_cookie_no_token(
    app: Flask, browser: CookieBrowser, ada: Person
) -> None:
    other = CookieBrowser(app)
    other.get("/account", 401, headers={"Authorization": f"Bearer {browser.cookie}"})
    other.hold(ada.token())
    other.get("/account", 401)
    # The row of a token's session, with its secret in the place of a cookie's.
    row = next(each for each in stored_sessions(app) if each.kind == "token")
    other.hold(urlsafe_b64encode(row.public_id.bytes + row.secret).decode())
    other.get("/account", 401)


def test_it_is_one_question_and_no_trip_to_the_keystore(
    app: Flask, browser: CookieBrowser, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_token = ada.api()
    trips: list[str] = []
    keystore = app.extensions["frontdesk"].keystore
    asked = keystore.get

    def note(key: str) -> Any:
        trips.append(key)
        return asked(key)

    monkeypatch.setattr(keystore, "get", note)
    for name in ("get_many", "put", "count", "take", "remaining"):
        monkeypatch.setattr(keystore, name, lambda *_, name=name: trips.append(name))
    with noted_queries(app) as queries:
        browser.get("/account")
    assert len(queries) == 1
    assert trips == []
    by_token.get("/account")
    assert trips == []


@pytest.mark.parametrize("ended", ["signed out", "expired", "malformed", "unknown", "password"])
def test_an_ended_cookie_is_deleted_where_the_caller_is_optional(
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


def test_an_optional_caller_with_an_ended_cookie_and_a_bad_token_is_refused(
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
        browser.hold("A" * 64 if how == "unknown" else "none of ours")
