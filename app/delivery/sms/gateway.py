"""The SMS channel, through Twilio. Its library is imported at first use, which takes a second."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...core.config.settings import LoadedSettings
from ...core.extras import missing_extra
from ..channel import AddressBook, Send
from ..errors import DeliveryError, Refused, SwitchedOff, TryLater, Unreachable
from ..message import Receiver, Sms, StoredMessage
from ..personal import personalized

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10.0
# Twilio's limit.
MAX_LENGTH = 1600
TWILIO = "https://api.twilio.com"

# Wrong credentials and too many requests, which are not errors of a receiver.
_GENERAL_ERRORS = (401, 429)


class SmsGateway:
    """Sends SMS. Settings are read for each SMS, since applications may set them at any time."""

    def __init__(self, settings: LoadedSettings) -> None:
        self._settings = settings

    def disabled_reason(self) -> str | None:
        names = ("SMS_ACCOUNT_SID", "SMS_AUTH_TOKEN", "SMS_PHONE_NUMBER")
        missing = [name for name in names if not self._settings.top_level(name)]
        if missing:
            return f"SMS are not set up: {', '.join(missing)} is empty"
        if line := missing_extra("sms"):
            return f"SMS are not set up: they need an extra, {line}"
        return None

    def send(self, sms: Sms) -> str | None:
        """Return the gateway's id of the message, or None after a failure, which is logged."""
        try:
            return self.deliver(sms)
        except DeliveryError as error:
            log.error("No SMS is sent: %s", error)
            return None

    def deliver(self, sms: Sms) -> str:
        if (reason := self.disabled_reason()) is not None:
            raise SwitchedOff(reason)
        from requests import RequestException
        from twilio.base.exceptions import TwilioException, TwilioRestException

        sender = self._settings.top_level("SMS_PHONE_NUMBER")
        try:
            sent = self._client.messages.create(to=sms.to, from_=sender, body=sms.text)
        except TwilioRestException as error:
            raise _gateway_error(error.status, str(error.msg)) from error
        except (TwilioException, RequestException, ValueError) as error:
            # The error's text can contain the request, so only its type is reported.
            raise Unreachable(
                f"The SMS gateway cannot be reached: {type(error).__name__}"
            ) from error
        return str(sent.sid)

    @cached_property
    def _client(self) -> Any:
        from twilio.http.http_client import TwilioHttpClient
        from twilio.rest import Client

        base = str(self._settings.top_level("SMS_API_URL") or TWILIO).rstrip("/")

        class Http(TwilioHttpClient):  # type: ignore[misc]
            def request(self, method: str, url: str, *args: object, **kwargs: object) -> object:
                return super().request(method, url.replace(TWILIO, base, 1), *args, **kwargs)

        return Client(
            self._settings.top_level("SMS_ACCOUNT_SID"),
            self._settings.top_level("SMS_AUTH_TOKEN"),
            http_client=Http(timeout=TIMEOUT_SECONDS),
        )


def _gateway_error(status: int, text: str) -> DeliveryError:
    reason = f"{status} {text}"
    if status in _GENERAL_ERRORS:
        return Unreachable(reason)
    return TryLater(reason) if status >= 500 else Refused(reason)


@dataclass
class SmsChannel:
    gateway: SmsGateway
    address_book: AddressBook[Receiver]
    name: str = field(default="sms", init=False)

    def disabled_reason(self) -> str | None:
        return self.gateway.disabled_reason()

    @contextmanager
    def open(self) -> Iterator[Send]:
        def send(
            message: StoredMessage, receiver: Receiver, _key: str, before_send: Callable[[], None]
        ) -> str:
            before_send()
            return self.gateway.deliver(Sms(receiver.phone or "", _text(personalized(message))))

        yield send


def _text(message: StoredMessage) -> str:
    text = f"{message.title}\n{message.message}"
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"
