"""Passwordless sign-in: one-time codes by email, tied to the browser that requested the code."""

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

from ..audit.entries import records, types
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..registration.visitors import GROUPED, Visitor, code_in, emails, grouped
from ..rigs.cases import for_each
from .test_limits import from_address
from .test_login import listen_to, log_in

ADA, UNKNOWN = "ada@example.com", "unknown@example.com"
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


def test_sign_in_by_code_is_off_by_default(make_app: MakeApp) -> None:
    api = Api(make_app())
    ask(api, status=404)
    api.post("/login/code/verify", 404, json={})


def test_emailed_code_signs_in(api: Api, ada: Person, mails: MailOutbox) -> None:
    login_id = ask(api)["login_id"]
    answer = verify(api, login_id, mailed_code(mails)).json
    assert (answer["account"]["email"], answer["token_type"]) == (ADA, "bearer")
    assert api.as_token(answer["access_token"]).get("/account").json["id"] == ada.id
    [found] = records(api.app, type="login.succeeded")
    assert (found.account_id, found.data) == (ada.id, {"proofs": ["code"]})


@pytest.mark.parametrize("pattern", GROUPED)
def test_code_may_be_grouped_by_spaces_or_hyphens(
    api: Api, ada: Person, mails: MailOutbox, pattern: str
) -> None:
    login_id = ask(api)["login_id"]
    verify(api, login_id, grouped(mailed_code(mails), pattern))


def test_email_names_the_device_and_has_no_sign_in_link(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    client = from_address(app, "203.0.113.9")
    login_id = ask(client, headers={"User-Agent": FIREFOX})["login_id"]
    mail = mails.last(ADA)
    assert "Firefox on Linux at 203.0.113.9" in mail.text
    assert "within 10 minutes" in mail.text
    assert login_id not in mail.text + mail.html
    assert re.findall(r'href="([^"]*)"', mail.html) == []
    assert mailed_code(mails) not in mail.subject


@pytest.mark.parametrize("agent", ["Your-bank.example/1.0 (Linux)", "", "Mozilla/5.0 <b>evil.org"])
def test_unknown_user_agent_is_not_quoted_in_the_email(
    api: Api, ada: Person, mails: MailOutbox, agent: str
) -> None:
    ask(api, headers={"User-Agent": agent})
    assert "a device that we do not know" in mails.last(ADA).text


def test_code_is_useless_without_the_login_id(app: Flask, ada: Person, mails: MailOutbox) -> None:
    """The attacker and Ada's browser each request a code; Ada reveals hers to the attacker."""
    attacker, browser = Api(app), Api(app)
    stolen = ask(attacker)["login_id"]
    own = ask(browser)["login_id"]
    code = mailed_code(mails)
    for guess in (stolen, stolen[::-1], "x" * 32):
        assert verify(attacker, guess, code, 400).json["code"] == "invalid_token"
    verify(browser, own, code)


def test_guesses_with_an_older_login_id_do_not_invalidate_the_code(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    older = ask(api)["login_id"]
    newest = ask(api)["login_id"]
    for _ in range(6):
        verify(api, older, "00000000", 400)
    verify(api, newest, mailed_code(mails))


def test_only_the_newest_code_is_valid(api: Api, ada: Person, mails: MailOutbox) -> None:
    first = ask(api)["login_id"], mailed_code(mails)
    second = ask(api)["login_id"], mailed_code(mails)
    verify(api, *first, 400)
    verify(api, *second)


def test_code_is_single_use(api: Api, ada: Person, mails: MailOutbox) -> None:
    proof = ask(api)["login_id"], mailed_code(mails)
    verify(api, *proof)
    verify(api, *proof, 400)


def test_five_wrong_codes_invalidate_the_code(api: Api, ada: Person, mails: MailOutbox) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    for _ in range(5):
        verify(api, login_id, other_than(code), 400)
    verify(api, login_id, code, 400)


@only_on("sqlite")
def test_code_expires(api: Api, ada: Person, mails: MailOutbox, clock: SteppingClock) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    clock.step(minutes=9)
    verify(api, login_id, other_than(code), 400)
    clock.step(minutes=2)
    verify(api, login_id, code, 400)


@pytest.mark.parametrize("change", [{"password": "another good one"}, {"email": "a@example.com"}])
def test_change_of_password_or_email_invalidates_the_code(
    api: Api, ada: Person, mails: MailOutbox, change: dict[str, str]
) -> None:
    login_id, code = ask(api)["login_id"], mailed_code(mails)
    ada.change(**change)
    verify(api, login_id, code, 400)


def test_code_is_single_use_under_concurrency(app: Flask, ada: Person, mails: MailOutbox) -> None:
    login_id, code = ask(Api(app))["login_id"], mailed_code(mails)
    body = {"login_id": login_id, "code": code}

    def use(_: int) -> int:
        return app.test_client().post("/api/v1/login/code/verify", json=body).status_code

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(use, range(200)))
    assert sorted(answers) == [200] + [400] * 199
    assert len(records(app, type="login.succeeded")) == 1


def test_known_and_unknown_emails_get_the_same_response_and_work(
    app: Flask, api: Api, person: MakePerson, mails: MailOutbox
) -> None:
    person("ada")
    person("ivan", status="inactive")
    person("sue", status="suspended")
    responses = []
    for name in ("ada", "ivan", "sue", "unknown"):
        with noted_queries(app) as queries:
            response = api.post("/login/code", 202, json={"email": f"{name}@example.com"}).response
        kinds = [query.split()[0] for query in queries]
        headers = sorted(set(response.headers.keys()))
        responses.append((len(response.data), headers, kinds))
    assert len(mails) == 4
    assert responses[1:] == responses[:1] * 3


def test_missing_account_is_only_mentioned_in_the_email(api: Api, mails: MailOutbox) -> None:
    login_id = ask(api, UNKNOWN)["login_id"]
    mails.assert_sent(UNKNOWN, "no account with this address")
    verify(api, login_id, "00000000", 400)


@only_on("sqlite")
def test_requests_per_email_are_limited_for_known_and_unknown(
    api: Api, ada: Person, clock: SteppingClock
) -> None:
    for email in (ADA, UNKNOWN):
        for _ in range(5):
            ask(api, email)
        ask(api, email.upper(), 429)
    clock.step(minutes=11)
    ask(api)


def test_requests_per_ip_address_are_limited(app: Flask) -> None:
    here = from_address(app, "203.0.113.9")
    for number in range(20):
        ask(here, f"user{number}@example.com")
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
def test_inactive_account_is_rejected_when_the_code_is_verified(
    api: Api, person: MakePerson, mails: MailOutbox, status: str, code: str
) -> None:
    person("ada", status=status)
    login_id = ask(api)["login_id"]
    assert verify(api, login_id, mailed_code(mails), 400).json["code"] == code


def test_sign_in_by_code_revokes_access_of_an_unverified_registration(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    """An attacker registers the owner's address with their own password and waits."""
    app = make_app(
        AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="optional"
    )
    attacker = Visitor(app, mails)
    token = attacker.register(201).json["access_token"]
    api = Api(app)
    login_id = ask(api)["login_id"]
    answer = verify(api, login_id, mailed_code(mails)).json
    assert answer["account"]["email_verified"] is True
    api.as_token(token).get("/account", 401)
    attacker.log_in(400)
    assert "password.removed" in types(app)
    api.as_token(answer["access_token"]).get("/account")


def test_code_verifies_a_pending_account(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    ada = Visitor(app, mails)
    ada.register()
    login_id = ask(ada.api)["login_id"]
    assert verify(ada.api, login_id, mailed_code(mails)).json["account"]["status"] == "active"
    ada.log_in(400)


def test_code_creates_an_account_where_registration_is_open(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    notified: list[str] = []
    listen_to(app, "account-registered", lambda account, _: notified.append(account.email))
    login_id = ask(Api(app), UNKNOWN.title())["login_id"]
    assert emails(app) == []
    account = verify(Api(app), login_id, mailed_code(mails, UNKNOWN)).json["account"]
    assert (account["email"], account["email_verified"]) == (UNKNOWN, True)
    assert notified == emails(app) == [UNKNOWN]
    with app.app_context():
        assert service(Accounts).get(UNKNOWN).password_hash is None


def test_code_for_an_unknown_email_is_rejected(
    api: Api, mails: MailOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a correct guess does not sign in."""
    monkeypatch.setattr("app.auth.proofs.secrets.randbelow", lambda _: 4711)
    login_id = ask(api, UNKNOWN)["login_id"]
    mails.assert_sent(UNKNOWN, "no account")
    verify(api, login_id, "00004711", 400)
    assert emails(api.app) == []


def test_allowed_domains_apply_to_codes(make_app: MakeApp, mails: MailOutbox) -> None:
    settings = {"AUTH__REGISTRATION": "domains", "AUTH__REGISTRATION_DOMAINS": '["example.com"]'}
    api = Api(make_app(AUTH__LOGIN_BY_CODE="on", **settings))
    login_id = ask(api, "a@example.org")["login_id"]
    mails.assert_sent("a@example.org", "no account")
    verify(api, login_id, "00000000", 400)
    login_id = ask(api, UNKNOWN)["login_id"]
    verify(api, login_id, mailed_code(mails, UNKNOWN))


def test_rejection_by_the_application_is_not_revealed_to_the_client(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    person("ada", into=app)

    def refuse(email: str, door: str, session: Any) -> Any:
        assert door == "code"
        return Forbidden("Not you")

    app.extensions["frontdesk"].hooks.add("may_register", refuse)
    api = Api(app)
    ask(api, UNKNOWN)
    mails.assert_sent(UNKNOWN, "no account")
    login_id = ask(api)["login_id"]
    verify(api, login_id, mailed_code(mails))


def test_registration_in_between_invalidates_the_code(
    make_app: MakeApp, mails: MailOutbox, person: MakePerson
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    login_id = ask(Api(app))["login_id"]
    code = mailed_code(mails)
    person("ada", into=app)
    verify(Api(app), login_id, code, 400)


def test_concurrent_codes_create_one_account(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__REGISTRATION="open")
    body = {"login_id": ask(Api(app), UNKNOWN)["login_id"], "code": mailed_code(mails, UNKNOWN)}

    def use(_: int) -> int:
        return app.test_client().post("/api/v1/login/code/verify", json=body).status_code

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(use, range(8)))
    assert sorted(answers) == [200] + [400] * 7
    assert emails(app) == [UNKNOWN]


def test_password_lockout_does_not_block_sign_in_by_code(
    app: Flask, ada: Person, mails: MailOutbox
) -> None:
    here = from_address(app, "203.0.113.9")
    for _ in range(5):
        log_in(here, ADA, "wrong", 400)
    log_in(here, ADA, PASSWORD, 429)
    verify(here, ask(here)["login_id"], mailed_code(mails))
    log_in(here, ADA, PASSWORD)


def test_requests_and_failures_are_in_the_audit_log(api: Api, ada: Person) -> None:
    login_id = ask(api)["login_id"]
    ask(api, UNKNOWN)
    verify(api, login_id, "00000000", 400)
    requested = records(api.app, type="login.code_requested")
    assert [each.account_id for each in requested] == [ada.id, None]
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
def test_malformed_email_is_rejected(api: Api, body: dict[str, Any]) -> None:
    api.post("/login/code", 422, json=body)


@pytest.mark.parametrize("code", ["", "1", "\u0660" * 8, "0" * 64, "\u2028", "0000 0000"])
def test_malformed_code_is_rejected(api: Api, ada: Person, code: str) -> None:
    verify(api, ask(api)["login_id"], code, 422 if not code else 400)


@for_each("login_id", ["", "é" * 32, "a" * 33, None, 7, "\x00"])
def test_malformed_login_id_is_rejected(api: Api, ada: Person, login_id: Any) -> None:
    body = {"login_id": login_id, "code": "00000000"}
    api.post("/login/code/verify", 400 if login_id == "é" * 32 else 422, json=body)
