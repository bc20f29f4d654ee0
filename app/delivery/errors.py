"""Why a message did not leave. Each kind asks for something else."""

from __future__ import annotations


class DeliveryError(Exception):
    """Its text is stored as the reason and logged: no body, no secret."""

    def __init__(self, reason: str) -> None:
        self.reason = reason[:200]
        super().__init__(self.reason)


class Refused(DeliveryError):
    """This message to this receiver is refused for good."""


class TryLater(DeliveryError):
    """This receiver cannot be reached just now; others may be."""


class Unreachable(DeliveryError):
    """The server cannot be spoken to: no message is to blame, and all of them wait."""


class SenderRefused(Unreachable):
    """The server takes nothing from us: a setting is to blame, and no receiver is."""


class RefusedAtReceiver(SenderRefused):
    """The server refused the sender while it was given a receiver, so perhaps for this receiver
    only: one email address must not stop the delivery to all others."""


class SwitchedOff(DeliveryError):
    """The channel is switched off or not set up."""
