"""Why a message was not sent. Each class is handled differently."""


class DeliveryError(Exception):
    """The reason is stored and logged, so it must not contain a message or a secret."""

    def __init__(self, reason: str) -> None:
        self.reason = reason[:200]
        super().__init__(self.reason)


class Refused(DeliveryError):
    """The message to this receiver is rejected permanently."""


class TryLater(DeliveryError):
    """This receiver cannot be reached now; other receivers may be."""


class Unreachable(DeliveryError):
    """The server cannot be used: no message is the cause, and all messages wait."""


class SenderRefused(Unreachable):
    """The server rejects the sender: a setting is the cause, and not a receiver."""


class RefusedAtReceiver(SenderRefused):
    """The server rejected the sender after the receiver was named, so perhaps for this receiver
    only: one email address must not stop the delivery to all others."""


class SwitchedOff(DeliveryError):
    """The channel is disabled or not configured."""
