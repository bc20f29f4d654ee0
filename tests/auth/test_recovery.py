from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, SECRET, MakeApp, MakePerson, Person
from ..registration.visitors import GROUPED, grouped
from ..rigs.cases import for_each
from .test_login import listen_to, log_in

NEW = "a password never seen before"


def ask(api: Api, mails: MailOutbox, email: str = "ada@example.com") -> tuple[str, str]:
    """Request a password reset; return the token and the code of the email."""
    api.post("/password-recovery", json={"email": email})
    mail = mails.sent[-1]
    token = re.search(r"\?token=(\S+)", mail.text)
    code = re.search(r"\b\d{8}\b", mail.text)
    assert token is not None
    assert code is not None
    return token[1], code[0]


def other(code: str) -> str:
    return f"{(int(code) + 1) % 10**8:08d}"


def verify(api: Api, token: str, status: int = 200, email: str | None = "ada@example.com") -> Any:
    body = {"token": token} | ({"email": email} if email else {})
    return api.post("/verify-token", status, json=body)


def reset(api: Api, token: str, status: int = 200, **body: Any) -> Any:
    body = {"token": token, "email": "ada@example.com", "new_password": NEW, **body}
    return api.post("/reset-password", status, json=body)


def test_email_has_link_token_and_code(api: Api, ada: Person, mails: MailOutbox) -> None:
    token, code = ask(api, mails)
    mail = mails.sent[0]
    assert mail.to == "ada@example.com"
    assert f"http://localhost:3000/reset?token={token}" in mail.text
    assert f"http://localhost:3000/reset?token={token}" in mail.html
    assert code in mail.html
    assert len(token) >= 10


def test_unknown_email_is_reported_by_default(api: Api, mails: MailOutbox) -> None:
    assert api.post("/password-recovery", 404, json={"email": "x@example.com"}).detail == (
        "Account not found"
    )
    assert mails.sent == []


def test_unknown_email_gets_the_same_response_if_hidden(
    make_app: MakeApp, ada: Person, mails: MailOutbox
) -> None:
    app = make_app(AUTH__HIDE_ACCOUNTS="true")
    api = Api(app)
    with noted_queries(app) as known:
        answer = api.post("/password-recovery", json={"email": ada.email})
    with noted_queries(app) as unknown:
        hidden = api.post("/password-recovery", json={"email": "unknown@example.com"})
    assert hidden.json == answer.json
    assert [query.split()[0] for query in unknown] == [query.split()[0] for query in known]
    mail = mails.sent[-1]
    assert mail.to == "unknown@example.com"
    assert "no account" in mail.subject
    assert "token=" not in mail.text
    assert mails.sent[-2].to == ada.email


def test_email_to_an_unknown_address_is_rate_limited(make_app: MakeApp, mails: MailOutbox) -> None:
    api = Api(make_app(AUTH__HIDE_ACCOUNTS="true"))
    for _ in range(5):
        api.post("/password-recovery", json={"email": "unknown@example.com"})
    api.post("/password-recovery", 429, json={"email": "unknown@example.com"})
    assert len(mails.sent) == 5


@pytest.mark.parametrize("which", [0, 1])
def test_token_and_code_reset_the_password(
    api: Api, ada: Person, mails: MailOutbox, which: int
) -> None:
    credential = ask(api, mails)[which]
    verify(api, credential)
    verify(api, credential)
    reset(api, credential)
    log_in(api, ada.email, NEW)
    log_in(api, ada.email, PASSWORD, 400)


@pytest.mark.parametrize("pattern", GROUPED)
def test_code_may_be_grouped_by_spaces_or_hyphens(
    api: Api, ada: Person, mails: MailOutbox, pattern: str
) -> None:
    code = grouped(ask(api, mails)[1], pattern)
    verify(api, code, 422, email=None)
    verify(api, code)
    reset(api, code)


@pytest.mark.parametrize("which", [0, 1])
def test_token_and_code_survive_a_secret_key_rotation(
    make_app: MakeApp, ada: Person, mails: MailOutbox, which: int
) -> None:
    credential = ask(Api(make_app(CORE__KEYSTORE="database")), mails)[which]
    new = {"SECRET_KEY": "b" * 40, "CORE__KEYSTORE": "database"}
    verify(Api(make_app(**new)), credential, 400)
    rotated = Api(make_app(**new, CORE__SECRET_KEY_FALLBACKS=json.dumps([SECRET])))
    verify(rotated, credential)
    reset(rotated, credential)
    verify(rotated, credential, 400)
    log_in(rotated, ada.email, NEW)


@pytest.mark.parametrize("which", [0, 1])
def test_reset_invalidates_token_and_code(
    api: Api, ada: Person, mails: MailOutbox, which: int
) -> None:
    credentials = ask(api, mails)
    reset(api, credentials[which])
    for credential in credentials:
        assert verify(api, credential, 400).detail == "Invalid token"
        assert reset(api, credential, 400).detail == "Invalid token"


def test_reset_revokes_tokens_and_notifies_the_owner(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    before = ada.api()
    reset(api, ask(api, mails)[0])
    assert before.get("/account", 401).detail == "Could not validate credentials"
    assert "changed" in mails.sent[-1].subject
    assert NEW not in mails.sent[-1].text


def test_reset_to_the_former_password_is_rejected_and_the_token_stays_valid(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    token, _ = ask(api, mails)
    assert reset(api, token, 422, new_password=PASSWORD).faults == ["json:new_password"]
    reset(api, token)


def test_code_needs_the_email_and_token_does_not(api: Api, ada: Person, mails: MailOutbox) -> None:
    token, code = ask(api, mails)
    verify(api, token, email=None)
    assert verify(api, code, 422, email=None).faults == ["json:email"]


def test_credential_with_another_accounts_email_is_invalid(
    api: Api, ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    person("eve")
    for credential in ask(api, mails):
        assert verify(api, credential, 400, email="eve@example.com").detail == "Invalid token"
        verify(api, credential, 400, email="unknown@example.com")
        verify(api, credential, email="ADA@example.com")


def test_only_the_newest_code_is_valid_and_earlier_tokens_stay_valid(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    first_token, first_code = ask(api, mails)
    _, second_code = ask(api, mails)
    if first_code != second_code:
        verify(api, first_code, 400)
    verify(api, second_code)
    verify(api, first_token)


def test_code_expires_before_the_token(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(CORE__REDIS_URL="", CORE__KEYSTORE="memory")
    person("ada", into=app)
    api = Api(app)
    token, code = ask(api, mails)
    clock.step(minutes=11)
    verify(api, code, 400)
    clock.step(hours=47)
    verify(api, token)
    clock.step(hours=2)
    verify(api, token, 400)


def test_five_wrong_codes_invalidate_the_code_across_routes(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    token, code = ask(api, mails)
    for attempt in range(5):
        (verify if attempt % 2 else reset)(api, other(code), 400)
    assert verify(api, code, 400).detail == "Invalid token"
    verify(api, token)
    _, newest = ask(api, mails)
    verify(api, newest)


def test_concurrent_wrong_codes_invalidate_the_code(
    app: Flask, api: Api, ada: Person, mails: MailOutbox
) -> None:
    _, code = ask(api, mails)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: verify(Api(app), other(code), 400), range(12)))
    verify(api, code, 400)


def test_correct_codes_are_not_counted(api: Api, ada: Person, mails: MailOutbox) -> None:
    _, code = ask(api, mails)
    for _ in range(8):
        verify(api, code)
    for _ in range(4):
        verify(api, other(code), 400)
    verify(api, code)


@pytest.mark.parametrize("which", [0, 1])
def test_only_one_concurrent_reset_succeeds(
    app: Flask, api: Api, ada: Person, mails: MailOutbox, which: int
) -> None:
    credential = ask(api, mails)[which]

    def attempt(number: int) -> int:
        body = {"token": credential, "email": ada.email, "new_password": f"{NEW} {number}"}
        return app.test_client().post("/api/v1/reset-password", json=body).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(attempt, range(4)))
    assert statuses == [200, 400, 400, 400]


def test_inactive_account_gets_the_email_and_no_reset(
    api: Api, person: MakePerson, mails: MailOutbox
) -> None:
    person("ivan", status="inactive")
    token, _ = ask(api, mails, "ivan@example.com")
    assert reset(api, token, 400, email="ivan@example.com").detail == "Inactive account"


@pytest.fixture
def recovery(api: Api, ada: Person, mails: MailOutbox) -> tuple[str, str]:
    return ask(api, mails)


@for_each("password", ["short", "", "x" * 73, "ü" * 37, "has a \0 in it", 12345678, None])
def test_invalid_password_is_rejected(api: Api, recovery: tuple[str, str], password: Any) -> None:
    assert reset(api, recovery[0], 422, new_password=password).faults == ["json:new_password"]


def test_password_must_differ_from_the_email(api: Api, ada: Person, mails: MailOutbox) -> None:
    token, _ = ask(api, mails)
    assert reset(api, token, 422, new_password="ADA@example.com").faults == ["json:new_password"]
    reset(api, token)


@for_each("token", ["x", "12345678", "x" * 10, "x" * 600, "a.b.c", ".", "é" * 20])
def test_unknown_token_is_invalid(api: Api, ada: Person, token: str) -> None:
    assert verify(api, token, 400).detail == "Invalid token"


def test_access_tokens_and_reset_tokens_are_not_interchangeable(
    api: Api, ada: Person, mails: MailOutbox
) -> None:
    token, code = ask(api, mails)
    verify(api, ada.token(), 400)
    for credential in (token, code):
        api.as_token(credential).get("/account", 401)


def test_change_of_email_invalidates_reset_credentials(
    api: Api, ada: Person, person: MakePerson, mails: MailOutbox
) -> None:
    token, code = ask(api, mails)
    ada.change(email="countess@example.com")
    person("ada")
    for credential in (token, code):
        verify(api, credential, 400)
        verify(api, credential, 400, email="countess@example.com")


def test_listener_runs_in_the_transaction_of_the_reset(
    app: Flask, api: Api, ada: Person, mails: MailOutbox
) -> None:
    def refuse(account: Any, options: dict[str, Any]) -> None:
        raise RuntimeError("not today")

    listen_to(app, "password-reset", refuse)
    token, _ = ask(api, mails)
    reset(api, token, 500)
    log_in(api, ada.email, PASSWORD)
    assert len(mails.sent) == 1


def test_application_can_send_the_email_itself(
    app: Flask, api: Api, ada: Person, mails: MailOutbox
) -> None:
    sent: list[dict[str, str]] = []
    app.extensions["frontdesk"].hooks.add("recovery_mail", lambda **mail: sent.append(mail))
    api.post("/password-recovery", json={"email": ada.email})
    assert mails.sent == []
    assert set(sent[0]) == {"email_to", "username", "token", "code"}
    verify(api, sent[0]["token"])


def test_stored_state_has_no_readable_credentials(
    app: Flask, api: Api, ada: Person, mails: MailOutbox
) -> None:
    token, code = ask(api, mails)
    with app.app_context():
        account = service(Accounts).get(ada.email)
        entry = app.extensions["frontdesk"].keystore.get(f"proof:recovery:account:{account.id}")
    assert entry is not None
    assert code not in entry
    assert token not in entry
    assert SECRET not in entry
