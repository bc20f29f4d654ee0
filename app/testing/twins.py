"""Honest twins of what leaves the process, and of the time, put in place for every application.

In place of the classes' own methods, not of one application's objects: an application that a
session-wide fixture made long before is served as well as one that is made in the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from ..accounts.models import AccountLike
from ..auth.reset_tokens import ResetTokens
from ..core.clock import SystemClock
from ..delivery.celery_engine import CeleryEngine
from ..delivery.channel import Send
from ..delivery.email import EmailChannel, Pages
from ..delivery.engine import InlineEngine, ThreadEngine
from ..delivery.message import Email, Message, Receiver, Sms
from ..delivery.post import BackgroundPost
from ..delivery.sms import SmsGateway
from .clock import SteppingClock
from .outbox import MailOutbox, SmsOutbox


@dataclass
class Twins:
    clock: SteppingClock = field(default_factory=SteppingClock)
    mails: MailOutbox = field(default_factory=MailOutbox)
    sms: SmsOutbox = field(default_factory=SmsOutbox)
    # The newest reset token and code of each address, whoever mailed them.
    resets: dict[str, tuple[str, str]] = field(default_factory=dict)


@contextmanager
def twins() -> Iterator[Twins]:
    made = Twins()
    issue = ResetTokens.issue

    def now(_self: SystemClock) -> Any:
        return made.clock.now()

    def send_soon(_self: BackgroundPost, email: Email) -> None:
        made.mails.add(email)

    def issue_and_keep(self: ResetTokens, account: AccountLike) -> tuple[str, str]:
        made.resets[account.email] = issued = issue(self, account)
        return issued

    def no_sms_is_off(_self: SmsGateway) -> None:
        return None

    def deliver_sms(_self: SmsGateway, sms: Sms) -> str:
        made.sms.add(sms)
        return f"sms-{len(made.sms)}"

    @contextmanager
    def open_email(self: EmailChannel) -> Iterator[Send]:
        def send(message: Message, receiver: Receiver, *_more: Any) -> None:
            made.mails.add(Pages(self.templates, message, self.link).to(receiver.email))

        yield send

    def wait(_self: Any, *_channels: Any) -> None:
        """Nothing happens behind a test's back: it says when to deliver."""

    with ExitStack() as stack:
        for kind, name, twin in (
            (SystemClock, "now", now),
            (BackgroundPost, "send_soon", send_soon),
            (ResetTokens, "issue", issue_and_keep),
            (SmsGateway, "off", no_sms_is_off),
            (SmsGateway, "deliver", deliver_sms),
            (EmailChannel, "open", open_email),
            (ThreadEngine, "start", wait),
            (ThreadEngine, "wake", wait),
            (InlineEngine, "wake", wait),
            (CeleryEngine, "wake", wait),
        ):
            stack.enter_context(mock.patch.object(kind, name, twin))
        yield made
