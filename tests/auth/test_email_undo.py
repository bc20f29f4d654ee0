"""Undoing a change of email address from the old address."""

from __future__ import annotations

from app.accounts.service import Accounts
from app.auth.idp.identities import Identities
from app.auth.idp.provider import Provider
from app.core.context import service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakePerson, Person, only_on
from ..registration.visitors import emails
from ..rigs.racing import run_concurrently
from .test_email_change import ADA, NEW, NEW_PASSWORD, ask, change, confirm, mailed, undo
from .test_login import log_in


def test_old_address_undoes_the_change(ada: Person, mails: MailOutbox, api: Api) -> None:
    attacker = change(ada, mails)
    mails.assert_sent(ADA, "your email address was changed", NEW)
    token = mailed(mails, ADA)[0]
    undo(api, token)
    attacker.get("/account", 404)
    log_in(api, NEW, PASSWORD, 400)
    log_in(api, ADA, PASSWORD, 400)
    body = {"token": mailed(mails, ADA)[0], "new_password": NEW_PASSWORD}
    api.post("/reset-password", json=body)
    log_in(api, ADA, NEW_PASSWORD)
    undo(api, token, 400)


def test_change_can_be_cancelled_before_confirmation(
    ada: Person, mails: MailOutbox, api: Api
) -> None:
    here = ada.api()
    ask(here)
    undo_token, confirm_token = mailed(mails, ADA)[0], mailed(mails)[0]
    undo(api, undo_token)
    confirm(api, confirm_token, 400)
    here.get("/account", 401)
    mails.assert_sent(ADA, "reset your password")
    undo(api, undo_token, 400)


def test_undo_also_reverts_later_changes(ada: Person, mails: MailOutbox, api: Api) -> None:
    attacker = change(ada, mails)
    first = mailed(mails, ADA)[0]
    ask(attacker, "further@example.com")
    confirm(attacker, mailed(mails, "further@example.com")[0])
    second = mailed(mails, NEW)[0]
    undo(api, first)
    assert emails(ada.app) == [ADA]
    undo(api, second, 400)


def test_later_change_can_be_undone_alone(ada: Person, mails: MailOutbox, api: Api) -> None:
    there = change(ada, mails)
    first = mailed(mails, ADA)[0]
    ask(there, "further@example.com")
    confirm(there, mailed(mails, "further@example.com")[0])
    undo(api, mailed(mails, NEW)[0])
    assert emails(ada.app) == [NEW]
    undo(api, first)
    assert emails(ada.app) == [ADA]


@only_on("sqlite")
def test_undo_expires_72_hours_after_the_change(
    ada: Person, mails: MailOutbox, api: Api, clock: SteppingClock
) -> None:
    here = ada.api()
    ask(here)
    request_token = mailed(mails, ADA)[0]
    clock.step(hours=47)
    confirm(api, mailed(mails)[0])
    clock.step(hours=71)
    undo(api, request_token, 400)
    change_token = mailed(mails, ADA)[0]
    clock.step(hours=2)
    undo(api, change_token, 400)
    clock.step(hours=-3)
    undo(api, change_token)


def test_undo_fails_if_the_old_address_belongs_to_another_account(
    ada: Person, person: MakePerson, mails: MailOutbox, api: Api
) -> None:
    there = change(ada, mails)
    person("ada")
    answer = undo(api, mailed(mails, ADA)[0], 409)
    assert answer.json["code"] == "email_taken"
    assert there.get("/account").json["email"] == NEW


def test_undo_unlinks_identities_linked_since_the_change(
    ada: Person, mails: MailOutbox, api: Api
) -> None:
    change(ada, mails)
    with ada.app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            account = accounts.get(NEW)
            service(Identities).link(
                account, Provider("default", "oidc", "id"), "https://idp.example", "attacker", NEW
            )
    undo(api, mailed(mails, ADA)[0])
    with ada.app.app_context():
        assert service(Identities).owner("https://idp.example", "attacker") is None


def test_operators_change_cannot_be_undone(ada: Person, mails: MailOutbox, api: Api) -> None:
    change(ada, mails)
    ada.change(email="settled@example.com")
    undo(api, mailed(mails, ADA)[0], 400)
    assert emails(ada.app) == ["settled@example.com"]


def test_only_one_concurrent_undo_succeeds(ada: Person, mails: MailOutbox, api: Api) -> None:
    change(ada, mails)
    token = mailed(mails, ADA)[0]
    mails.clear()

    def send() -> int:
        client = ada.app.test_client()
        return client.post("/api/v1/account/email/undo", json={"token": token}).status_code

    assert run_concurrently(*[send] * 4) == [200, 400, 400, 400]
    assert len(mails) == 1
