from __future__ import annotations

from collections.abc import Iterable

from ..core.errors import BadRequest, Conflict, Fault, Invalid, NotFound


class NotificationNotFound(NotFound):
    code = "notification_not_found"
    detail = "Notification not found"


class AlreadyRestored(Conflict):
    """Two clicks on the same button, mostly."""

    code = "notification_restored"
    detail = "The notification is in the inbox again"


class NotRestorable(BadRequest):
    """The signed statement of a deleted item is too old, or its signature is invalid."""

    code = "notification_not_restorable"
    detail = "This can no longer be undone"


class NoChannels(BadRequest):
    code = "no_channels"
    detail = "No channels specified"


class SenderRequired(BadRequest):
    code = "sender_required"
    detail = "A notification of type admin needs a sender"


class UnknownReceivers(Invalid):
    """Raised before anything is sent; names some of the unknown recipients by their ids."""

    def __init__(self, ids: Iterable[int]) -> None:
        named = ", ".join(str(each) for each in ids)
        fault = Fault("", "account_receiver_ids", f"No account has the id: {named}")
        super().__init__(faults=[fault])
