from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from ..core.context import current_frontdesk
from ..core.web.fields import (
    AccountId,
    EnumField,
    NamedEnum,
    Page,
    RequestSchema,
    StrictBoolean,
    StrictInteger,
    Text,
    Timestamp,
)
from ..delivery.outbox.models import FAILED, STATES
from .models import ADMIN, LINE_BREAK, MESSAGE_LENGTH, SYSTEM, TITLE_LENGTH

MAX_CHANNELS = 50
INAPP = "inapp"
# The channels of the API contract; applications can add channels.
CHANNELS = (INAPP, "push", "email", "sms", "discord")
CHANNEL = NamedEnum("Channel", lambda: (*CHANNELS, *current_frontdesk.hooks.named("channel")))
DELIVERY_STATE = NamedEnum("DeliveryState", STATES)
NOTIFICATION_TYPE = NamedEnum("NotificationType", (SYSTEM, ADMIN))
_IN_LINE = r"\x00\r\n\v\f\x1c-\x1f\x85\u2028\u2029"
ONE_LINE = rf"^[^{_IN_LINE}]*[^{_IN_LINE}\s][^{_IN_LINE}]*$"


def one_line(text: str) -> None:
    if LINE_BREAK.search(text):
        raise ValidationError("Must be one line.")


class InboxPage(Page):
    is_read = StrictBoolean(
        metadata={"description": "Only read (`true`) or unread (`false`) items."}
    )


class Mark(RequestSchema):
    status = StrictBoolean(
        load_default=None,
        metadata={
            "description": "`true` marks as read, `false` as unread. If omitted, the state is"
            " toggled."
        },
    )


class WithReceivers(RequestSchema):
    """Reject receivers under another name or in another place: if they were ignored, the
    notification would be sent to all accounts."""

    @validates_schema(pass_original=True)
    def reject_other_receivers(self, _data: Any, original: Any, **_: Any) -> None:
        unknown = [name for name in original if "receiver" in name.lower()]
        faults = {name: ["Unknown field."] for name in unknown if name not in self.fields}
        if faults:
            raise ValidationError(faults)


class NotificationCreate(WithReceivers):
    title = Text(
        min=1,
        max=TITLE_LENGTH,
        required=True,
        pattern=ONE_LINE,
        validate=one_line,
        metadata={"description": "Title of the notification."},
    )
    message = Text(
        min=1,
        max=MESSAGE_LENGTH,
        required=True,
        metadata={"description": "Text of the notification."},
    )
    # An empty list gets a separate error.
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        validate=validate.Length(max=MAX_CHANNELS),
        metadata={"description": "Channels on which the notification is sent."},
    )


class AccountIds(fields.List[Any]):
    """Ids of accounts. Reject an empty list: only a missing list means all accounts."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(AccountId(received=True), validate=validate.Length(min=1), **kwargs)

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if value in (None, [], [""]):
            raise ValidationError("Names nobody. Leave it out to send to all accounts.")
        return super().deserialize(value, *args, **kwargs)


class Broadcast(WithReceivers):
    data = fields.Nested(
        NotificationCreate, required=True, metadata={"description": "The notification to send."}
    )
    account_receiver_ids = AccountIds(
        metadata={
            "description": "IDs of the receiving accounts, for lists that are too long for the"
            " query."
        }
    )


class BroadcastQuery(WithReceivers):
    account_receiver_ids = AccountIds(
        metadata={
            "description": "IDs of the receiving accounts. If omitted, all accounts receive the"
            " notification."
        }
    )


class ReachQuestion(WithReceivers):
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        validate=validate.Length(min=1, max=MAX_CHANNELS),
        metadata={"description": "Channels on which the notification is sent."},
    )
    account_receiver_ids = AccountIds(
        metadata={
            "description": "IDs of the receiving accounts. If omitted, all accounts are counted."
        }
    )


class LeftOut(Schema):
    reason = fields.String(
        required=True, metadata={"description": "Why the message is not sent to these recipients."}
    )
    receivers = fields.Integer(required=True, metadata={"description": "Number of recipients."})


class ChannelReach(Schema):
    reached = fields.Integer(
        required=True, metadata={"description": "Number of recipients that the channel reaches."}
    )
    left_out = fields.List(
        fields.Nested(LeftOut),
        required=True,
        metadata={"description": "Recipients that the channel does not reach, by reason."},
    )


class ReachRead(Schema):
    receivers = fields.Integer(required=True, metadata={"description": "Number of recipients."})
    channels = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(ChannelReach),
        required=True,
        metadata={"description": "Result for each channel."},
    )


class OutcomeQuery(RequestSchema):
    state = EnumField(
        DELIVERY_STATE,
        load_default=FAILED,
        metadata={"description": "Only deliveries in this state."},
    )
    channel = EnumField(CHANNEL, metadata={"description": "Only deliveries on this channel."})
    limit = StrictInteger(
        load_default=100,
        min=1,
        max=500,
        metadata={"description": "Maximum number of items to return."},
    )
    after = StrictInteger(
        metadata={"description": "`id` of the last delivery of the previous page."}
    )


class OutcomeRead(Schema):
    """The result of a delivery of a notification."""

    id = fields.Integer(required=True, metadata={"description": "ID of the delivery."})
    receiver_id = AccountId(required=True, metadata={"description": "ID of the receiving account."})
    # None if the account was deleted.
    email = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Email address of the recipient; `null` if the account is deleted."
        },
    )
    channel = fields.String(required=True, metadata={"description": "Channel of the delivery."})
    state = EnumField(
        DELIVERY_STATE, required=True, metadata={"description": "State of the delivery."}
    )
    attempts = fields.Integer(required=True, metadata={"description": "Number of attempts so far."})
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why the message was not sent."}
    )
    finished_at = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the message was sent, or finally failed."},
    )


class InboxItemLinks(Schema):
    """Paths with the right ids, for GET, PATCH and DELETE."""

    self_ = fields.String(
        data_key="self", required=True, metadata={"description": "Path of the inbox item."}
    )
    mark = fields.String(
        required=True, metadata={"description": "Path that marks the inbox item as read."}
    )
    delete = fields.String(
        required=True, metadata={"description": "Path that deletes the inbox item."}
    )


class InboxItemRow(Schema):
    """The columns of an inbox item and of its notification."""

    id = fields.Integer(required=True, metadata={"description": "ID of the inbox item."})
    notification_id = fields.Integer(
        required=True,
        metadata={"description": "ID of the notification that the inbox item belongs to."},
    )
    receiver_id = AccountId(required=True, metadata={"description": "ID of the receiving account."})
    is_read = fields.Boolean(
        required=True, metadata={"description": "Whether the recipient has read the notification."}
    )
    title = fields.String(required=True, metadata={"description": "Title of the notification."})
    message = fields.String(required=True, metadata={"description": "Text of the notification."})
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        metadata={"description": "Channels on which the notification is sent."},
    )
    sender_id = AccountId(
        required=True, allow_none=True, metadata={"description": "ID of the sending account."}
    )
    notification_type = EnumField(
        NOTIFICATION_TYPE,
        required=True,
        metadata={"description": "Who sent the notification: an administrator or the system."},
    )
    scope = fields.String(
        required=True,
        metadata={
            "description": "Scope of the notification; `account` for notifications to accounts."
        },
    )
    created_at = Timestamp(
        required=True, metadata={"description": "When the inbox item was created."}
    )


class InboxItemRead(InboxItemRow):
    links = fields.Nested(
        InboxItemLinks,
        required=True,
        metadata={"description": "Paths of the operations on this inbox item."},
    )


class UnreadCount(Schema):
    unread = fields.Integer(
        required=True, metadata={"description": "Number of unread notifications."}
    )


class DeliveryCounts(Schema):
    pending = fields.Integer(required=True, metadata={"description": "Number of queued messages."})
    sent = fields.Integer(required=True, metadata={"description": "Number of sent messages."})
    failed = fields.Integer(required=True, metadata={"description": "Number of failed messages."})
    skipped = fields.Integer(
        required=True,
        metadata={
            "description": "Number of skipped messages, such as SMS to accounts without a phone"
            " number."
        },
    )


def _deliveries(*, allow_none: bool = False) -> Any:
    """Counts by channel."""
    return fields.Dict(
        keys=fields.String(),
        values=fields.Nested(DeliveryCounts),
        required=True,
        allow_none=allow_none,
        metadata={"description": "Number of messages in each state, by channel."},
    )


class NotificationRead(Schema):
    id = fields.Integer(required=True, metadata={"description": "ID of the notification."})
    title = fields.String(required=True, metadata={"description": "Title of the notification."})
    message = fields.String(required=True, metadata={"description": "Text of the notification."})
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        metadata={"description": "Channels on which the notification is sent."},
    )
    sender_id = AccountId(
        required=True, allow_none=True, metadata={"description": "ID of the sending account."}
    )
    notification_type = EnumField(
        NOTIFICATION_TYPE,
        required=True,
        metadata={"description": "Who sent the notification: an administrator or the system."},
    )
    scope = fields.String(
        required=True,
        metadata={
            "description": "Scope of the notification; `account` for notifications to accounts."
        },
    )
    created_at = Timestamp(
        required=True, metadata={"description": "When the notification was created."}
    )
    receivers = fields.Integer(required=True, metadata={"description": "Number of recipients."})
    read = fields.Integer(
        required=True, metadata={"description": "Number of recipients who read the notification."}
    )
    deliveries = _deliveries()


class ListedNotificationRead(NotificationRead):
    """In a list, large notifications have no counts before they are counted."""

    read = fields.Integer(
        required=True,
        allow_none=True,
        metadata={
            "description": "Number of recipients who read the notification; can be outdated or"
            " `null`."
        },
    )
    deliveries = _deliveries(allow_none=True)
