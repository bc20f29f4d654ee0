"""Changing an account's email address: verified by the new address, undone by the old one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..registration.visitors import GROUPED, Visitor, emails, grouped
from ..rigs.cases import for_each
from ..rigs.racing import run_concurrently
from .test_login import listen_to, log_in

ADA, NEW = "ada@example.com", "countess@example.com"
NEW_PASSWORD = "a password never seen before"


def ask(api: Api, email: str = NEW, status: int = 202, **more: Any) -> Answer:
    return api.post("/account/email", status, json={"email": email, **more})


def mailed(mails: MailOutbox, email: str = NEW) -> tuple[str, str]:
    """Return the token of the newest email to an address, and its code if there is one."""
    text = mails.last(email).text
    token, code = re.search(r"\?token=(\S+)", text), re.search(r"\b\d{8}\b", text)
    assert token
    return token[1], code[0] if code else ""


def confirm(api: Api, token: str, status: int = 200, **more: Any) -> Answer:
    """Confirm without a session, with the password."""
    body = {"token": token, "password": PASSWORD, **more}
    return api.as_token(None).post("/account/email/confirm", status, json=body)


def undo(api: Api, token: str, status: int = 200) -> Answer:
    return api.as_token(None).post("/account/email/undo", status, json={"token": token})


def change(ada: Person, mails: MailOutbox, email: str = NEW) -> Api:
    """Change the email address from request to confirmation; return the signed-in client."""
    here = ada.api()
    ask(here, email)
    answer = confirm(here, mailed(mails, email)[0])
    ada.email = email
    return here.as_token(answer.json["access_token"])


def test_confirmation_changes_the_email_and_revokes_all_tokens(
    ada: Person, mails: MailOutbox, api: Api
) -> None:
    here, elsewhere = ada.api(), ada.api()
    assert ask(here).json == {"message": "Check your new email address to confirm the change"}
    assert here.get("/account").json["email"] == ADA
    answer = confirm(here, mailed(mails)[0]).json
    assert answer["account"]["email"] == NEW
    for before in (here, elsewhere):
        before.get("/account", 404)
    assert api.as_token(answer["access_token"]).get("/account").json["email"] == NEW
    log_in(api, ADA, PASSWORD, 400)
    log_in(api, NEW, PASSWORD)


def test_links_open_pages_and_get_requests_change_nothing(ada: Person, mails: MailOutbox) -> None:
    here = ada.api()
    ask(here)
    assert "http://localhost:3000/confirm-email?token=" in mails.last(NEW).text
    assert "http://localhost:3000/undo-email?token=" in mails.last(ADA).text
    for route, email in (("confirm", NEW), ("undo", ADA)):
        here.get(f"/account/email/{route}?token={mailed(mails, email)[0]}", 405)
    assert here.get("/account").json["email"] == ADA


def test_emails_to_both_addresses_have_the_language_of_the_account(
    person: MakePerson, mails: MailOutbox
) -> None:
    here = person("ada", locale="de").api()
    french = {"Accept-Language": "fr"}
    here.post("/account/email", 202, json={"email": NEW}, headers=french)
    for email in (NEW, ADA):
        assert '<html lang="de"' in mails.last(email).html
    requested = mails.last(ADA)
    body = {"token": mailed(mails)[0], "password": PASSWORD}
    here.as_token(None).post("/account/email/confirm", 200, json=body, headers=french)
    assert mails.last(ADA).subject != requested.subject
    assert '<html lang="de"' in mails.last(ADA).html


def test_email_to_the_holder_of_a_taken_address_has_the_language_of_that_account(
    person: MakePerson, mails: MailOutbox
) -> None:
    bob = person("bob", locale="fr")
    ask(person("ada", locale="de").api(), bob.email)
    assert '<html lang="fr"' in mails.last(bob.email).html


def test_code_needs_the_new_address(ada: Person, mails: MailOutbox) -> None:
    here = ada.api()
    ask(here)
    _, code = mailed(mails)
    assert confirm(here, code, 422).faults == ["json:email"]
    confirm(here, code, 400, email=ADA)
    confirm(here, f"{(int(code) + 1) % 10**8:08d}", 400, email=NEW)
    assert confirm(here, code, email=NEW.upper()).json["account"]["email"] == NEW


@pytest.mark.parametrize("pattern", GROUPED)
def test_code_may_be_grouped_by_spaces_or_hyphens(
    ada: Person, mails: MailOutbox, pattern: str
) -> None:
    here = ada.api()
    ask(here)
    code = grouped(mailed(mails)[1], pattern)
    assert confirm(here, code, email=NEW).json["account"]["email"] == NEW


def test_five_wrong_codes_invalidate_the_code_and_not_the_link(
    ada: Person, mails: MailOutbox
) -> None:
    here = ada.api()
    ask(here)
    token, code = mailed(mails)
    for step in range(1, 6):
        confirm(here, f"{(int(code) + step) % 10**8:08d}", 400, email=NEW)
    confirm(here, code, 400, email=NEW)
    confirm(here, token)


def test_signed_in_users_confirm_only_their_own_change(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    grace = person("grace").api()
    ask(ada.api())
    token, code = mailed(mails)
    for body in ({"token": token}, {"token": code, "email": NEW}):
        grace.post("/account/email/confirm", 400, json=body)
    answer = ada.api().post("/account/email/confirm", json={"token": token}).json
    assert answer["account"]["email"] == NEW


def test_token_without_credentials_confirms_nothing(
    ada: Person, person: MakePerson, mails: MailOutbox, api: Api
) -> None:
    """A mistyped email address may belong to someone else, who receives the link."""
    here = ada.api()
    ask(here)
    token, code = mailed(mails)
    for body in ({"token": token}, {"token": code, "email": NEW}):
        answer = api.post("/account/email/confirm", 403, json=body)
        assert answer.json["code"] == "fresh_sign_in_required"
    wrong = confirm(api, token, 400, password="wrong")
    assert wrong.json["code"] == "incorrect_credentials"
    assert here.get("/account").json["email"] == ADA
    answer = confirm(api, token).json
    assert answer["account"]["email"] == NEW
    api.as_token(answer["access_token"]).get("/account")


def test_wrong_passwords_at_confirmation_are_rate_limited(
    ada: Person, mails: MailOutbox, api: Api
) -> None:
    ask(ada.api())
    token, _ = mailed(mails)
    for _ in range(5):
        confirm(api, token, 400, password="wrong")
    assert confirm(api, token, 429).json["code"] == "too_many_attempts"
    assert emails(ada.app) == [ADA]


@for_each(
    ("email", "fault"),
    [
        ("no address", "json:email"),
        ("\u212aim@example.com", "json:email"),
        (ADA.title(), "json:email"),
    ],
)
def test_invalid_new_email_is_a_422(ada: Person, mails: MailOutbox, email: str, fault: str) -> None:
    assert ask(ada.api(), email, 422).faults == [fault]
    mails.assert_empty()


def test_existing_email_gets_the_same_response_and_its_owner_is_notified(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    person("grace")
    here = ada.api()
    known, unknown = (ask(here, f"{name}@example.com") for name in ("grace", "unknown"))
    assert known.response.data == unknown.response.data
    notified = mails.assert_sent("grace@example.com", "has an account", "nothing has changed")
    assert "token=" not in notified.text
    assert len(mails.to("unknown@example.com")) == 1
    first, second = mails.to(ADA)
    assert first.text.splitlines()[0] == second.text.splitlines()[0]


@only_on("sqlite")
def test_stale_sign_in_needs_the_password_and_wrong_passwords_are_counted(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    here = person("ada", into=app).api()
    clock.step(minutes=16)
    refused = ask(here, status=403).json
    assert (refused["code"], refused["max_age"]) == ("fresh_sign_in_required", 900)
    assert "acr_values" not in refused, "MFA is not required"
    for _ in range(5):
        answer = ask(here, status=400, password="wrong")
        assert answer.detail == "Incorrect email or password"
    ask(here, status=429, password=PASSWORD)
    mails.assert_empty()
    clock.step(minutes=6)
    ask(here, password=PASSWORD)


def test_request_requires_an_active_account(api: Api, ada: Person) -> None:
    ask(api, status=401)
    here = ada.api()
    ada.change(status="suspended")
    assert ask(here, status=401).json["code"] == "account_inactive"


def test_suspended_account_keeps_its_email(ada: Person, mails: MailOutbox) -> None:
    here = ada.api()
    ask(here)
    ada.change(status="suspended")
    assert confirm(here, mailed(mails)[0], 400).detail == "Inactive account"
    assert emails(ada.app) == [ADA]


def test_email_registered_in_between_is_a_409(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    here = ada.api()
    ask(here)
    person(NEW)
    answer = confirm(here, mailed(mails)[0], 409)
    assert answer.json["code"] == "email_taken"
    assert here.get("/account").json["email"] == ADA


@pytest.mark.parametrize("what", ["password", "email", "sign-out", "newer"])
def test_pending_change_is_invalidated_by_account_changes(
    ada: Person, mails: MailOutbox, clock: SteppingClock, what: str
) -> None:
    here = ada.api()
    ask(here)
    token, _ = mailed(mails)
    if what == "newer":
        ask(here, "another@example.com")
    elif what == "sign-out":
        ada.app.test_cli_runner().invoke(args=["accounts", "sign-out", ADA])
    else:
        ada.change(**{what: {"password": NEW_PASSWORD, "email": "a@example.com"}[what]})
    confirm(here, token, 400)


@only_on("sqlite")
def test_link_and_code_expire(ada: Person, mails: MailOutbox, clock: SteppingClock) -> None:
    here = ada.api()
    ask(here)
    token, code = mailed(mails)
    clock.step(minutes=11)
    confirm(here, code, 400, email=NEW)
    clock.step(hours=48)
    confirm(here, token, 400)


def test_token_is_single_use_under_concurrency(ada: Person, mails: MailOutbox, api: Api) -> None:
    here = ada.api()
    ask(here)
    token, _ = mailed(mails)

    def send() -> int:
        client = here.app.test_client()
        body = {"token": token, "password": PASSWORD}
        return client.post("/api/v1/account/email/confirm", json=body).status_code

    assert run_concurrently(*[send] * 5) == [200, 400, 400, 400, 400]
    confirm(api, token, 400)


def test_concurrent_changes_to_one_email_succeed_once(
    ada: Person, person: MakePerson, mails: MailOutbox, make_app: MakeApp
) -> None:
    app = make_app(AUTH__RATE_LIMITS_ENABLED="false")
    grace = person("grace")
    tokens = []
    for each in (ada, grace):
        ask(Api(app, token=each.token()))
        tokens.append(mailed(mails)[0])

    def send(token: str) -> int:
        client = app.test_client()
        body = {"token": token, "password": PASSWORD}
        return client.post("/api/v1/account/email/confirm", json=body).status_code

    assert run_concurrently(*(lambda each=each: send(each) for each in tokens)) == [200, 409]
    assert emails(app).count(NEW) == 1


def test_unverified_old_address_cannot_undo(make_app: MakeApp, mails: MailOutbox) -> None:
    """An unverified old address may belong to someone else, who could take over the account."""
    app = make_app(AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="optional")
    visitor = Visitor(app, mails)
    api = Api(app, token=visitor.register(201).json["access_token"])
    assert api.get("/account").json["email_verified"] is False
    mails.clear()
    ask(api)
    answer = confirm(api, mailed(mails)[0], password=visitor.password)
    assert answer.json["account"]["email_verified"] is True
    assert mails.to(ADA) == []


def test_unverified_registration_does_not_block_the_address(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__RATE_LIMITS_ENABLED="false")
    Visitor(app, mails, NEW).register()
    here = Api(app, token=person("ada", into=app).token())
    ask(here)
    mails.assert_sent(NEW, "confirm your new email address")
    confirm(here, mailed(mails)[0])
    assert emails(app) == [NEW]


def test_tokens_are_only_valid_for_their_purpose(ada: Person, mails: MailOutbox, api: Api) -> None:
    ask(ada.api())
    confirm_token, undo_token = mailed(mails)[0], mailed(mails, ADA)[0]
    confirm(api, undo_token, 400)
    undo(api, confirm_token, 400)
    for token in (confirm_token, undo_token):
        api.post("/email-verification", 400, json={"token": token})
        body = {"token": token, "new_password": NEW_PASSWORD}
        api.post("/reset-password", 400, json=body)


def test_requests_per_account_are_rate_limited(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__EMAIL_CHANGE_LIMIT="2 per hour")
    here = Api(app, token=person("ada", into=app).token())
    for name, status in (("one", 202), ("two", 202), ("three", 429)):
        answer = ask(here, f"{name}@example.com", status)
    assert int(answer.headers["Retry-After"]) > 0
    assert len(mails) == 4


def test_emails_to_one_address_are_limited_to_one_a_minute(
    ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    for each in (ada, person("grace"), person("mary")):
        ask(each.api())
    assert len(mails.to(NEW)) == 1


def test_only_allowed_domains_are_accepted(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__REGISTRATION="domains", AUTH__REGISTRATION_DOMAINS='["example.com"]')
    here = Api(app, token=person("ada", into=app).token())
    assert ask(here, "ada@example.org", 403).json["code"] == "email_refused"
    mails.assert_empty()
    ask(here)


def test_listeners_are_notified_of_each_change(ada: Person, mails: MailOutbox, api: Api) -> None:
    notified: list[str] = []
    listen_to(ada.app, "email-changed", lambda account, _: notified.append(account.email))
    change(ada, mails)
    undo(api, mailed(mails, ADA)[0])
    assert notified == [NEW, ADA]


def test_expired_changes_are_pruned(ada: Person, mails: MailOutbox, clock: SteppingClock) -> None:
    change(ada, mails)
    runner = ada.app.test_cli_runner()
    clock.step(hours=119)
    assert '"email_changes":0' in runner.invoke(args=["frontdesk", "prune"]).output
    clock.step(hours=2)
    assert '"email_changes":1' in runner.invoke(args=["frontdesk", "prune"]).output


def test_security_emails_can_be_disabled(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__SECURITY_MAILS="false")
    here = Api(app, token=person("ada", into=app).token())
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    here.put("/account/password", json=body)
    mails.assert_empty()
