"""Fakes of email, SMS, delivery and the clock, for every application in the process.

They replace methods of classes, not of one application's objects, so that applications of
session-wide fixtures use them too.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from ..accounts.models import AccountLike
from ..auth.proofs import AccountProofs, IssuedProof
from ..core.clock import SystemClock
from ..delivery.channel import Send
from ..delivery.mail.base import Mailer
from ..delivery.mail.channel import EmailChannel
from ..delivery.mail.one_off import BackgroundMail
from ..delivery.message import Email, Receiver, Sms, StoredMessage
from ..delivery.sms.gateway import SmsGateway
from ..delivery.start import DeliveryStart
from ..delivery.worker.background import SWEEP_SECONDS
from ..delivery.worker.celery import CeleryEngine
from ..delivery.worker.engine import InlineEngine, ThreadEngine
from .clock import SteppingClock
from .outbox import MailOutbox, SmsOutbox


@dataclass
class Fakes:
    clock: SteppingClock = field(default_factory=SteppingClock)
    mails: MailOutbox = field(default_factory=MailOutbox)
    sms: SmsOutbox = field(default_factory=SmsOutbox)
    # The newest token and code for each purpose and email address.
    proofs: dict[tuple[str, str], IssuedProof] = field(default_factory=dict)


@contextmanager
def fakes() -> Iterator[Fakes]:
    made = Fakes()
    issue = AccountProofs.issue

    def now(_self: SystemClock) -> Any:
        return made.clock.now()

    def keep(email: Email, mailer: Mailer) -> None:
        """Store the email, and send Flask-Mail's signal as for a sent email."""
        made.mails.add(email)
        mailer.on_sent(mailer.writer.write(email, made.clock.now()))

    def send_soon(self: BackgroundMail, email: Email) -> None:
        keep(email, self.mailer)

    def issue_and_keep(self: AccountProofs, account: AccountLike) -> IssuedProof:
        issued = issue(self, account)
        made.proofs[self.purpose.name, account.email] = issued
        return issued

    def never_disabled(_self: SmsGateway) -> None:
        return None

    def deliver_sms(_self: SmsGateway, sms: Sms) -> str:
        made.sms.add(sms)
        return f"sms-{len(made.sms)}"

    @contextmanager
    def open_email(self: EmailChannel) -> Iterator[Send]:
        def send(message: StoredMessage, receiver: Receiver, *_more: object) -> None:
            language = self.templates.language_for(receiver.locale)
            renderer = self.make_renderer(message, language)
            keep(renderer.render(receiver.email, message.values), self.mailer)

        yield send

    def wait(_self: object, *_channels: object) -> None:
        """Do nothing: the test calls `deliver`."""

    def send_nothing(_self: ThreadEngine, _channel: str) -> float:
        """An application that was built before this patch starts the real thread."""
        return SWEEP_SECONDS

    with ExitStack() as stack:
        for kind, name, fake in (
            (SystemClock, "now", now),
            (BackgroundMail, "send_soon", send_soon),
            (AccountProofs, "issue", issue_and_keep),
            (SmsGateway, "disabled_reason", never_disabled),
            (SmsGateway, "deliver", deliver_sms),
            (EmailChannel, "open", open_email),
            (DeliveryStart, "start", wait),
            (ThreadEngine, "start", wait),
            (ThreadEngine, "wake", wait),
            (ThreadEngine, "_work", send_nothing),
            (InlineEngine, "wake", wait),
            (CeleryEngine, "wake", wait),
        ):
            stack.enter_context(mock.patch.object(kind, name, fake))
        yield made
