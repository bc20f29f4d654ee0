"""A change of address that the old one takes back: somebody else may have made it."""

from __future__ import annotations

from app.accounts.service import Accounts
from app.auth.idp.identities import Identities
from app.core.context import service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakePerson, Person, only_on
from ..registration.visitors import emails
from ..rigs.racing import at_once
from .test_email_change import ADA, NEW, NEW_PASSWORD, ask, change, confirm, mailed, undo
from .test_login import log_in


def test_the_old_address_takes_it_back(ada: Person, mails: MailOutbox, api: Api) -> None:
    thief = change(ada, mails)
    mails.assert_sent(ADA, "your email address was changed", NEW)
    token = mailed(mails, ADA)[0]
    undo(api, token)
    thief.get("/account", 404)
    log_in(api, NEW, PASSWORD, 400)
    log_in(api, ADA, PASSWORD, 400)
    body = {"token": mailed(mails, ADA)[0], "new_password": NEW_PASSWORD}
    api.post("/reset-password", json=body)
    log_in(api, ADA, NEW_PASSWORD)
    undo(api, token, 400)


def test_it_can_be_stopped_before_it_is_made(ada: Person, mails: MailOutbox, api: Api) -> None:
    here = ada.api()
    ask(here)
    stop, proof = mailed(mails, ADA)[0], mailed(mails)[0]
    undo(api, stop)
    confirm(api, proof, 400)
    here.get("/account", 401)
    mails.assert_sent(ADA, "reset your password")
    undo(api, stop, 400)


def test_also_when_the_address_was_changed_again(ada: Person, mails: MailOutbox, api: Api) -> None:
    thief = change(ada, mails)
    first = mailed(mails, ADA)[0]
    ask(thief, "further@example.com")
    confirm(thief, mailed(mails, "further@example.com")[0])
    second = mailed(mails, NEW)[0]
    undo(api, first)
    assert emails(ada.app) == [ADA]
    undo(api, second, 400)


def test_a_change_after_it_is_undone_alone(ada: Person, mails: MailOutbox, api: Api) -> None:
    there = change(ada, mails)
    first = mailed(mails, ADA)[0]
    ask(there, "further@example.com")
    confirm(there, mailed(mails, "further@example.com")[0])
    undo(api, mailed(mails, NEW)[0])
    assert emails(ada.app) == [NEW]
    undo(api, first)
    assert emails(ada.app) == [ADA]


@only_on("sqlite")
def test_for_seventy_two_hours_from_the_change(
    ada: Person, mails: MailOutbox, api: Api, clock: SteppingClock
) -> None:
    here = ada.api()
    ask(here)
    asked = mailed(mails, ADA)[0]
    clock.step(hours=47)
    confirm(api, mailed(mails)[0])
    clock.step(hours=71)
    undo(api, asked, 400)
    made = mailed(mails, ADA)[0]
    clock.step(hours=2)
    undo(api, made, 400)
    clock.step(hours=-3)
    undo(api, made)


def test_not_where_the_old_address_is_another_accounts_by_now(
    ada: Person, person: MakePerson, mails: MailOutbox, api: Api
) -> None:
    there = change(ada, mails)
    person("ada")
    answer = undo(api, mailed(mails, ADA)[0], 409)
    assert answer.json["code"] == "email_taken"
    assert there.get("/account").json["email"] == NEW


def test_whoever_was_linked_meanwhile_is_forgotten(
    ada: Person, mails: MailOutbox, api: Api
) -> None:
    change(ada, mails)
    with ada.app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            account = accounts.get(NEW)
            service(Identities).link(account, "https://idp.example", "thief", NEW)
    undo(api, mailed(mails, ADA)[0])
    with ada.app.app_context():
        assert service(Identities).owner("https://idp.example", "thief") is None


def test_an_operators_word_is_the_last(ada: Person, mails: MailOutbox, api: Api) -> None:
    change(ada, mails)
    ada.change(email="settled@example.com")
    undo(api, mailed(mails, ADA)[0], 400)
    assert emails(ada.app) == ["settled@example.com"]


def test_of_many_at_once_one_does_it(ada: Person, mails: MailOutbox, api: Api) -> None:
    change(ada, mails)
    token = mailed(mails, ADA)[0]
    mails.clear()

    def send() -> int:
        client = ada.app.test_client()
        return client.post("/api/v1/account/email/undo", json={"token": token}).status_code

    assert at_once(*[send] * 4) == [200, 400, 400, 400]
    assert len(mails) == 1
