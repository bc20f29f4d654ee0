"""Sent messages, and assertions about them."""

from typing import Generic, TypeVar

from ..core.request import note_effect
from ..delivery.message import Email, Sms

Kept = TypeVar("Kept", Email, Sms)


class _Outbox(Generic[Kept]):
    def __init__(self) -> None:
        self.sent: list[Kept] = []

    def __len__(self) -> int:
        return len(self.sent)

    def add(self, message: Kept) -> None:
        self.sent.append(message)

    def to(self, receiver: str) -> list[Kept]:
        """Return all messages to a recipient.

        Args:
            receiver: Email address or phone number.

        Returns:
            The messages, oldest first.

        Example::

            [first, second] = frontdesk.mails.to("ada@example.com")
        """
        return [message for message in self.sent if message.to == receiver]

    def last(self, receiver: str) -> Kept:
        """Return the newest message to a recipient.

        Args:
            receiver: Email address or phone number.

        Returns:
            The message.

        Raises:
            AssertionError: No message was sent to the recipient.

        Example::

            link = frontdesk.mails.last("ada@example.com").text
        """
        found = self.to(receiver)
        assert found, f"Nothing was sent to {receiver}; {self._describe_sent()}"
        return found[-1]

    def clear(self) -> None:
        """Forget all messages."""
        self.sent.clear()

    def assert_empty(self) -> None:
        """Check that no message was sent.

        Raises:
            AssertionError: A message was sent.

        Example::

            frontdesk.mails.assert_empty()
        """
        assert not self.sent, f"Something was sent: {self._describe_sent()}"

    def _describe_sent(self) -> str:
        return ", ".join(self._line(message) for message in self.sent) or "nothing at all was"

    def _line(self, message: Kept) -> str:
        return message.to


class MailOutbox(_Outbox[Email]):
    """Emails that were sent in a test.

    Example::

        frontdesk.mails.assert_sent("ada@example.com", subject="reset your password")
    """

    def send_soon(self, email: Email) -> None:
        note_effect()
        self.add(email)

    def assert_sent(self, to: str, subject: str = "", text: str = "") -> Email:
        """Check that an email was sent.

        Args:
            to: Email address of the recipient.
            subject: Part of the subject.
            text: Part of the text.

        Returns:
            The newest such email.

        Raises:
            AssertionError: No such email was sent.

        Example::

            frontdesk.mails.assert_sent("ada@example.com", subject="Bob pinned a note")
        """
        for mail in reversed(self.to(to)):
            if subject in mail.subject and text in mail.text:
                return mail
        wanted = f"No mail to {to} has {subject!r} in its subject and {text!r} in its text"
        raise AssertionError(f"{wanted}; sent: {self._describe_sent()}")

    def _line(self, message: Email) -> str:
        return f"{message.to} '{message.subject}'"


class SmsOutbox(_Outbox[Sms]):
    """SMS that were sent in a test.

    Example::

        frontdesk.sms.assert_sent("+15005550006", text="Bring it back")
    """

    def assert_sent(self, to: str, text: str = "") -> Sms:
        """Check that an SMS was sent.

        Args:
            to: Phone number of the recipient.
            text: Part of the text.

        Returns:
            The newest such SMS.

        Raises:
            AssertionError: No such SMS was sent.

        Example::

            frontdesk.sms.assert_sent("+15005550006", text="Bring it back")
        """
        for sms in reversed(self.to(to)):
            if text in sms.text:
                return sms
        raise AssertionError(f"No SMS to {to} has {text!r}; sent: {self._describe_sent()}")
