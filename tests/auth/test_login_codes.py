"""Signing in by a code that is mailed: for whoever asked for it, in the place where they did."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.core.errors import Forbidden
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..audit.reading import records, types
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..registration.visitors import Visitor, code_in, emails
from ..rigs.cases import for_each
from .test_limits import from_address
from .test_login import listen_to, log_in

ADA, NOBODY = "ada@example.com", "nobody@example.com"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__LOGIN_BY_CODE="on")


def ask(api: Api, email: str = ADA, status: int = 202, **request: Any) -> Any:
    return api.post("/login/code", status, json={"email": email}, **request).json


def mailed_code(mails: MailOutbox, email: str = ADA) -> str:
    return code_in(mails.last(email).text)


def verify(api: Api, login_id: str, code: str, status: int = 200) -> Answer:
    body = {"login_id": login_id, "code": code}
    return api.post("/login/code/verify", status, json=body)


def other_than(code: str) -> str:
    return f"{(int(code) + 1) % 10**8:08d}"


def test_it_is_off_unless_it_is_switched_on(make_app: MakeApp) -> None:
    api = Api(make_app())
    ask(api, status=404)
    api.post("/login/code/verify", 404, json={})


def test_the_mailed_code_signs_in(api: Api, ada: Person, mails: MailOutbox) -> None:
    login_id = ask(api)["login_id"]
    answer = verify(api, login_id, mailed_code(mails)).json
    assert (answer["account"]["email"], answer["token_type"]) == (ADA, "bearer")
    assert api.as_token(answer["access_token"]).get("/account").json["id"] == ada.id
    [found] = records(api.app, type="login.succeeded")
    assert (found.account_id, found.data) == (ada.id, {"proofs": ["code"]})


def test_the_mail_says_who_asked_and_has_no_link_that_signs_in(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    asking = from_address(app, "203.0.113.9")
    login_id = ask(asking, headers={"User-Agent": FIREFOX})["login_id"]
    mail = mails.last(ADA)
    assert "Firefox on Linux at 203.0.113.9" in mail.text
    assert "within 10 minutes" in mail.text
    assert login_id not in mail.text + mail.html
    assert re.findall(r'href="([^"]*)"', mail.html) == []
    assert mailed_code(mails) not in mail.subject


@pytest.mark.parametrize("agent", ["Your-bank.example/1.0 (Linux)", "", "Mozilla/5.0 <b>evil.org"])
def test_no_stranger_writes_in_the_mail(
    api: Api, ada: Person, mails: MailOutbox, agent: str
) -> None:
    ask(api, headers={"User-Agent": agent})
    assert "a device that we do not know" in mails.last(ADA).text


def test_a_code_that_somebody_is_talked_into_telling_is_worth_nothing(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    """The thief asks for a code too, and has one id of a sign-in; Ada's browser has another."""
    thief, browser = Api(app), Api(app)
    stolen = ask(thief)["login_id"]
    mine = ask(browser)["login_id"]
    code = mailed_code(mails)
    for guess in (stolen, stolen[::-1], "x" * 32):
        assert verify(thief, guess, code, 400).json["code"] == "invalid_token"
    verify(browser, mine, code)


def test_guesses_with_an_older_id_end_nobodys_code(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    older = ask(api)["login_id"]
    newest = ask(api)["login_id"]
    for _ in range(6):
        verify(api, older, "00000000", 400)
    verify(api, newest, mailed_code(mails))


def test_only_the_newest_code_counts(api: Api, ada: Person, mails: MailOutbox) -> None:
    first = ask(api)["login_id"], mailed_code(mails)
    second = ask(api)["login_id"], mailed_code(mails)
    verify(api, *first, 400)
    verify(api, *second)


def test_a_code_counts_once(api: Api, ada: Person, mails: MailOutbox) -> None:
    proof = ask(api)["login_id"], mailed_code(mails)
    verify(api, *proof)
    verify(api, *proof, 400)


def test_five_wrong_ones_end_it(api: Api, ada: Person, mails: MailOutbox) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    for _ in range(5):
        verify(api, login_id, other_than(code), 400)
    verify(api, login_id, code, 400)


@only_on("sqlite")
def test_it_counts_for_some_minutes(
    api: Api, ada: Person, mails: MailOutbox, clock: SteppingClock
) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    clock.step(minutes=9)
    verify(api, login_id, other_than(code), 400)
    clock.step(minutes=2)
    verify(api, login_id, code, 400)


@pytest.mark.parametrize("change", [{"password": "another good one"}, {"email": "a@example.com"}])
def test_another_password_or_address_ends_it(
    api: Api, ada: Person, mails: MailOutbox, change: dict[str, str]
) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    ada.change(**change)
    verify(api, login_id, code, 400)


def test_of_many_uses_at_once_one_passes(app: Flask, ada: Person, mails: MailOutbox) -> None:
    login_id, code = ask(Api(app))["login_id"], mailed_code(mails)
    body = {"login_id": login_id, "code": code}

    def use(_: int) -> int:
        return app.test_client().post("/api/v1/login/code/verify", json=body).status_code

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(use, range(200)))
    assert sorted(answers) == [200] + [400] * 199
    assert len(records(app, type="login.succeeded")) == 1


def test_known_and_unknown_addresses_are_answered_alike_after_the_same_work(
    app: Flask, api: Api, person: MakePerson, mails: MailOutbox
) -> None:
    person("ada")
    person("ivan", status="inactive")
    person("sue", status="suspended")
    seen = []
    for name in ("ada", "ivan", "sue", "nobody"):
        with noted_queries(app) as queries:
            response = api.post("/login/code", 202, json={"email": f"{name}@example.com"}).response
        kinds = [query.split()[0] for query in queries]
        headers = sorted(set(response.headers.keys()))
        seen.append((len(response.data), headers, kinds))
    assert len(mails) == 4
    assert seen[1:] == seen[:1] * 3


def test_who_has_no_account_is_told_by_mail_alone(api: Api, mails: MailOutbox) -> None:
    login_id = ask(api, NOBODY)["login_id"]
    mails.assert_sent(NOBODY, "no account with this address")
    verify(api, login_id, "00000000", 400)


@only_on("sqlite")
def test_who_asks_too_often_waits_known_or_not(api: Api, ada: Person, clock: SteppingClock) -> None:
    for email in (ADA, NOBODY):
        for _ in range(5):
            ask(api, email)
        ask(api, email.upper(), 429)
    clock.step(minutes=11)
    ask(api)


def test_one_network_asks_for_so_many(app: Flask) -> None:
    here = from_address(app, "203.0.113.9")
    for number in range(20):
        ask(here, f"somebody{number}@example.com")
    ask(here, "another@example.com", 429)
    ask(from_address(app, "198.51.100.9"), "another@example.com")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("inactive", "inactive_account"),
        ("suspended", "inactive_account"),
        ("deleting", "account_deleting"),
    ],
)
def test_who_must_not_sign_in_is_told_at_the_code(
    api: Api, person: MakePerson, mails: MailOutbox, status: str, code: str
) -> None:
    person("ada", status=status)
    login_id = ask(api)["login_id"]
    assert verify(api, login_id, mailed_code(mails), 400).json["code"] == code


def test_what_others_set_up_in_their_name_opens_nothing_any_more(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    """Somebody registers her address with a password of their own, and waits."""
    app = make_app(
        AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="optional"
    )
    thief = Visitor(app, mails)
    token = thief.register(201).json["access_token"]
    api = Api(app)
    login_id = ask(api)["login_id"]
    answer = verify(api, login_id, mailed_code(mails)).json
    assert answer["account"]["email_verified"] is True
    api.as_token(token).get("/account", 401)
    thief.log_in(400)
    assert "password.removed" in types(app)
    api.as_token(answer["access_token"]).get("/account")


def test_an_account_that_waits_for_its_proof_has_it(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    ada = Visitor(app, mails)
    ada.register()
    login_id = ask(ada.api)["login_id"]
    assert verify(ada.api, login_id, mailed_code(mails)).json["account"]["status"] == "active"
    ada.log_in(400)


def test_where_registration_is_open_the_code_makes_an_account(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    told: list[str] = []
    listen_to(app, "account-registered", lambda account, _: told.append(account.email))
    login_id = ask(Api(app), NOBODY.title())["login_id"]
    assert emails(app) == []
    account = verify(Api(app), login_id, mailed_code(mails, NOBODY)).json["account"]
    assert (account["email"], account["email_verified"]) == (NOBODY, True)
    assert told == emails(app) == [NOBODY]
    with app.app_context():
        assert service(Accounts).get(NOBODY).password_hash is None


def test_a_code_that_was_mailed_to_nobody_opens_nothing(
    api: Api, mails: MailOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever guesses it right has guessed in vain."""
    monkeypatch.setattr("app.auth.proofs.secrets.randbelow", lambda _: 4711)
    login_id = ask(api, NOBODY)["login_id"]
    mails.assert_sent(NOBODY, "no account")
    verify(api, login_id, "00004711", 400)
    assert emails(api.app) == []


def test_it_is_open_for_whom_it_is_open(make_app: MakeApp, mails: MailOutbox) -> None:
    settings = {"AUTH__REGISTRATION": "domains", "AUTH__REGISTRATION_DOMAINS": '["example.com"]'}
    api = Api(make_app(AUTH__LOGIN_BY_CODE="on", **settings))
    login_id = ask(api, "a@example.org")["login_id"]
    mails.assert_sent("a@example.org", "no account")
    verify(api, login_id, "00000000", 400)
    login_id = ask(api, NOBODY)["login_id"]
    verify(api, login_id, mailed_code(mails, NOBODY))


def test_a_hosts_refusal_is_told_to_nobody_who_only_asks(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    person("ada", into=app)

    def refuse(email: str, door: str, session: Any) -> Any:
        assert door == "code"
        return Forbidden("Not you")

    app.extensions["frontdesk"].hooks.add("may_register", refuse)
    api = Api(app)
    ask(api, NOBODY)
    mails.assert_sent(NOBODY, "no account")
    login_id = ask(api)["login_id"]
    verify(api, login_id, mailed_code(mails))


def test_a_registration_in_between_ends_the_code_of_a_newcomer(
    make_app: MakeApp, mails: MailOutbox, person: MakePerson
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    login_id = ask(Api(app))["login_id"]
    code = mailed_code(mails)
    person("ada", into=app)
    verify(Api(app), login_id, code, 400)


def test_many_newcomers_codes_at_once_make_one_account(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    body = {"login_id": ask(Api(app), NOBODY)["login_id"], "code": mailed_code(mails, NOBODY)}

    def use(_: int) -> int:
        return app.test_client().post("/api/v1/login/code/verify", json=body).status_code

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(use, range(8)))
    assert sorted(answers) == [200] + [400] * 7
    assert emails(app) == [NOBODY]


def test_guesses_at_the_password_keep_nobody_out_who_reads_the_mail(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    here = from_address(app, "203.0.113.9")
    for _ in range(5):
        log_in(here, ADA, "wrong", 400)
    log_in(here, ADA, PASSWORD, 429)
    verify(here, ask(here)["login_id"], mailed_code(mails))
    log_in(here, ADA, PASSWORD)


def test_what_was_asked_and_refused_is_recorded(api: Api, ada: Person) -> None:
    login_id = ask(api)["login_id"]
    ask(api, NOBODY)
    verify(api, login_id, "00000000", 400)
    asked = records(api.app, type="login.code_requested")
    assert [each.account_id for each in asked] == [ada.id, None]
    [refused] = records(api.app, type="login.failed")
    assert refused.data["reason"] == "invalid_token"


@for_each(
    "body",
    [
        {},
        {"email": ""},
        {"email": 7},
        {"email": "a\x00@example.com"},
        {"email": f"{'a' * 320}@example.com"},
        {"email": "no address"},
    ],
)
def test_what_is_no_address_is_none(api: Api, body: dict[str, Any]) -> None:
    api.post("/login/code", 422, json=body)


@pytest.mark.parametrize("code", ["", "1", "\u0660" * 8, "0" * 64, "\u2028", "0000 0000"])
def test_what_is_no_code_opens_nothing(api: Api, ada: Person, code: str) -> None:
    verify(api, ask(api)["login_id"], code, 422 if not code else 400)


@for_each("login_id", ["", "é" * 32, "a" * 33, None, 7, "\x00"])
def test_what_is_no_id_opens_nothing(api: Api, ada: Person, login_id: Any) -> None:
    body = {"login_id": login_id, "code": "00000000"}
    api.post("/login/code/verify", 400 if login_id == "é" * 32 else 422, json=body)
