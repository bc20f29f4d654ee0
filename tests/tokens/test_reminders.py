"""The email before a token expires."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from app.core.context import service
from app.delivery.worker.worker import Worker
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.tokens.emails import REMIND

from ..conftest import MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from .conftest import MakeToken

SUBJECT = "a personal token expires soon"


def reminders(mails: MailOutbox, email: str) -> list[str]:
    return [each.text for each in mails.to(email) if SUBJECT in each.subject]


def test_owner_is_reminded_once_seven_days_before_the_end(
    ada: Person,
    make_token: MakeToken,
    mails: MailOutbox,
    engine: ManualEngine,
    clock: SteppingClock,
) -> None:
    for name, days in (("Long", 30), ("Week", 7)):
        make_token(ada, name=name, days=days)
    ended = make_token(ada, name="Ended", days=30)["id"]
    ada.api().delete(f"/personal-tokens/{ended}")
    for days, count in ((22, 0), (1, 1), (1, 1), (5, 1)):
        clock.step(days=days, seconds=1)
        engine.deliver()
        assert len(reminders(mails, ada.email)) == count
    [text] = reminders(mails, ada.email)
    assert "“Long”" in text


def test_expired_tokens_and_inactive_accounts_have_no_reminder(
    ada: Person,
    person: MakePerson,
    make_token: MakeToken,
    mails: MailOutbox,
    engine: ManualEngine,
    clock: SteppingClock,
) -> None:
    bob = person("bob")
    make_token(ada, days=10)
    make_token(bob, days=30)
    clock.step(days=11)
    bob.change(status="inactive")
    engine.deliver()
    clock.step(days=13)
    engine.deliver()
    assert reminders(mails, ada.email) == reminders(mails, bob.email) == []


def test_several_workers_send_each_reminder_once(
    ada: Person, make_token: MakeToken, mails: MailOutbox, clock: SteppingClock
) -> None:
    for _ in range(20):
        make_token(ada, days=30)
    clock.step(days=24)
    app = ada.app

    def send(_: int) -> None:
        with app.app_context():
            [work] = [each for each in service(Worker).works if each.name == REMIND]
            work.make_task().work(lambda: False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(send, range(4)))
    assert len(reminders(mails, ada.email)) == 20
