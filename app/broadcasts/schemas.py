"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from typing import NotRequired, TypedDict

from marshmallow import Schema, fields, validate

from ..core.types import AccountKey
from ..core.web.fields import (
    AccountId,
    EnumField,
    RequestSchema,
    StrictInteger,
    Timestamp,
    page_limit,
    response_field,
)
from ..delivery.outbox.models import FAILED
from ..notifications.schemas import (
    CHANNEL,
    DELIVERY_STATE,
    KIND,
    MAX_CHANNELS,
    NOTIFICATION_TYPE,
    OPEN_URL,
    AccountIds,
    ContentRow,
    NotificationCreate,
    WithReceivers,
)


class Broadcast(WithReceivers):
    class Input(TypedDict):
        data: NotificationCreate.Input
        account_receiver_ids: NotRequired[list[AccountKey]]

    data = fields.Nested(
        NotificationCreate, required=True, metadata={"description": "The notification to send."}
    )
    account_receiver_ids = AccountIds(
        description="IDs of the receiving accounts, for lists that are too long for the query."
    )


class BroadcastQuery(WithReceivers):
    class Input(TypedDict, total=False):
        account_receiver_ids: list[AccountKey]

    account_receiver_ids = AccountIds(
        description="IDs of the receiving accounts. If omitted, all accounts receive the"
        " notification."
    )


class ReachQuestion(WithReceivers):
    class Input(TypedDict):
        channels: list[str]
        kind: NotRequired[str]
        account_receiver_ids: NotRequired[list[AccountKey]]

    kind = EnumField(KIND, description="Kind of the notification.")
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        validate=validate.Length(min=1, max=MAX_CHANNELS),
        metadata={"description": "Channels on which the notification is sent."},
    )
    account_receiver_ids = AccountIds(
        description="IDs of the receiving accounts. If omitted, all accounts are counted."
    )


class LeftOut(Schema):
    reason = response_field(fields.String, "Why the message is not sent to these recipients.")
    receivers = response_field(fields.Integer, "Number of recipients.")


class ChannelReach(Schema):
    reached = response_field(fields.Integer, "Number of recipients that the channel reaches.")
    left_out = response_field(
        fields.List,
        "Recipients that the channel does not reach, by reason.",
        fields.Nested(LeftOut),
    )


class ReachRead(Schema):
    receivers = response_field(fields.Integer, "Number of recipients.")
    channels = response_field(
        fields.Dict,
        "Result for each channel.",
        keys=fields.String(),
        values=fields.Nested(ChannelReach),
    )


class OutcomeQuery(RequestSchema):
    class Input(TypedDict):
        state: str
        channel: NotRequired[str]
        limit: int
        after: NotRequired[int]

    state = EnumField(
        DELIVERY_STATE, load_default=FAILED, description="Only deliveries in this state."
    )
    channel = EnumField(CHANNEL, description="Only deliveries on this channel.")
    limit = page_limit()
    after = StrictInteger(description="`id` of the last delivery of the previous page.")


class OutcomeRead(Schema):
    """The result of a delivery of a notification."""

    id = response_field(fields.Integer, "ID of the delivery.")
    receiver_id = response_field(AccountId, "ID of the receiving account.")
    # None if the account was deleted.
    email = response_field(
        fields.String,
        "Email address of the recipient; `null` if the account is deleted.",
        allow_none=True,
    )
    channel = response_field(fields.String, "Channel of the delivery.")
    state = response_field(EnumField, "State of the delivery.", DELIVERY_STATE)
    attempts = response_field(fields.Integer, "Number of attempts so far.")
    reason = response_field(fields.String, "Why the message was not sent.", allow_none=True)
    finished_at = response_field(
        Timestamp, "When the message was sent, or finally failed.", allow_none=True
    )


class DeliveryCounts(Schema):
    pending = response_field(fields.Integer, "Number of queued messages.")
    sent = response_field(fields.Integer, "Number of sent messages.")
    failed = response_field(fields.Integer, "Number of failed messages.")
    skipped = response_field(
        fields.Integer,
        "Number of skipped messages, such as SMS to accounts without a phone number.",
    )


class NotificationLinks(Schema):
    open = response_field(fields.String, OPEN_URL, allow_none=True)


class NotificationRow(ContentRow):
    """A notification with its counts."""

    id = response_field(fields.Integer, "ID of the notification.")
    title = response_field(fields.String, "Title of the notification.")
    message = response_field(fields.String, "Text of the notification.")
    channels = response_field(
        fields.List, "Channels on which the notification is sent.", EnumField(CHANNEL)
    )
    sender_id = response_field(AccountId, "ID of the sending account.", allow_none=True)
    notification_type = response_field(
        EnumField, "Who sent the notification: an administrator or the system.", NOTIFICATION_TYPE
    )
    scope = response_field(
        fields.String, "Scope of the notification; `account` for notifications to accounts."
    )
    created_at = response_field(Timestamp, "When the notification was created.")
    key = response_field(
        fields.String, "Key of the request, for its sender and for seven days.", allow_none=True
    )
    receivers = response_field(fields.Integer, "Number of recipients.")
    read = response_field(fields.Integer, "Number of recipients who read the notification.")
    deliveries = response_field(
        fields.Dict,
        "Number of messages in each state, by channel.",
        keys=fields.String(),
        values=fields.Nested(DeliveryCounts),
    )


class NotificationRead(NotificationRow):
    links = response_field(fields.Nested, "URLs of the notification.", NotificationLinks)


DRAFT = {
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
    "url": "/news/7",
    "kind": "announcements",
}
BROADCAST = {"data": DRAFT}
SENT = {
    "id": 3,
    **DRAFT,
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
    "receivers": 120,
    "read": 0,
    "deliveries": {"email": {"pending": 120, "sent": 0, "failed": 0, "skipped": 0}},
    "data": None,
    "workspace_id": None,
    "key": None,
    "links": {"open": "https://app.example.com/news/7"},
}
RETRIED = {"message": "3 failed deliveries will be tried again"}
QUESTION = {"channels": ["inapp", "email", "sms"]}
REACH = {
    "receivers": 120,
    "channels": {
        "inapp": {"reached": 120, "left_out": []},
        "email": {"reached": 120, "left_out": []},
        "sms": {
            "reached": 87,
            "left_out": [{"reason": "The account has no phone", "receivers": 33}],
        },
    },
}
FAILED_DELIVERY = {
    "id": 41,
    "receiver_id": 8,
    "email": "ada@example.com",
    "channel": "email",
    "state": "failed",
    "attempts": 1,
    "reason": "550 no such mailbox",
    "finished_at": "2026-03-01T12:00:02+00:00",
}
