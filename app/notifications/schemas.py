from typing import Any, NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from ..core.context import current_frontdesk
from ..core.types import AccountKey
from ..core.web.fields import (
    AccountId,
    Described,
    EnumField,
    NamedEnum,
    Page,
    RequestSchema,
    StrictBoolean,
    StrictInteger,
    Text,
    Timestamp,
    page_limit,
    response_field,
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
    class Input(Page.Input):
        is_read: NotRequired[bool]

    is_read = StrictBoolean(description="Only read (`true`) or unread (`false`) items.")


class Mark(RequestSchema):
    class Input(TypedDict):
        status: bool | None

    status = StrictBoolean(
        load_default=None,
        description="`true` marks as read, `false` as unread. If omitted, the state is toggled.",
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
    class Input(TypedDict):
        title: str
        message: str
        channels: list[str]

    title = Text(
        min=1,
        max=TITLE_LENGTH,
        required=True,
        pattern=ONE_LINE,
        validate=one_line,
        description="Title of the notification.",
    )
    message = Text(
        min=1, max=MESSAGE_LENGTH, required=True, description="Text of the notification."
    )
    # An empty list gets a separate error.
    channels = fields.List(
        EnumField(CHANNEL),
        required=True,
        validate=validate.Length(max=MAX_CHANNELS),
        metadata={"description": "Channels on which the notification is sent."},
    )


class AccountIds(Described, fields.List[Any]):
    """Ids of accounts. Reject an empty list: only a missing list means all accounts."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(AccountId(received=True), validate=validate.Length(min=1), **kwargs)

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if value in (None, [], [""]):
            raise ValidationError("The list is empty. Leave it out to send to all accounts.")
        return super().deserialize(value, *args, **kwargs)


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
        account_receiver_ids: NotRequired[list[AccountKey]]

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


class InboxItemLinks(Schema):
    """Paths with the right ids, for GET, PATCH and DELETE."""

    self_ = response_field(fields.String, "Path of the inbox item.", data_key="self")
    mark = response_field(fields.String, "Path that marks the inbox item as read.")
    delete = response_field(fields.String, "Path that deletes the inbox item.")


class InboxItemRow(Schema):
    """The columns of an inbox item and of its notification."""

    id = response_field(fields.Integer, "ID of the inbox item.")
    notification_id = response_field(
        fields.Integer, "ID of the notification that the inbox item belongs to."
    )
    receiver_id = response_field(AccountId, "ID of the receiving account.")
    is_read = response_field(fields.Boolean, "Whether the recipient has read the notification.")
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
    created_at = response_field(Timestamp, "When the inbox item was created.")


class InboxItemRead(InboxItemRow):
    links = response_field(
        fields.Nested, "Paths of the operations on this inbox item.", InboxItemLinks
    )


class UnreadCount(Schema):
    unread = response_field(fields.Integer, "Number of unread notifications.")


class DeliveryCounts(Schema):
    pending = response_field(fields.Integer, "Number of queued messages.")
    sent = response_field(fields.Integer, "Number of sent messages.")
    failed = response_field(fields.Integer, "Number of failed messages.")
    skipped = response_field(
        fields.Integer,
        "Number of skipped messages, such as SMS to accounts without a phone number.",
    )


class NotificationRead(Schema):
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
    receivers = response_field(fields.Integer, "Number of recipients.")
    read = response_field(fields.Integer, "Number of recipients who read the notification.")
    deliveries = response_field(
        fields.Dict,
        "Number of messages in each state, by channel.",
        keys=fields.String(),
        values=fields.Nested(DeliveryCounts),
    )
