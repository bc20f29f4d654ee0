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
    is_read = StrictBoolean(metadata={"description": "Only read, or only unread items"})


class Mark(RequestSchema):
    status = StrictBoolean(
        load_default=None, metadata={"description": "Read or unread; default: toggle"}
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
    title = Text(min=1, max=TITLE_LENGTH, required=True, pattern=ONE_LINE, validate=one_line)
    message = Text(min=1, max=MESSAGE_LENGTH, required=True)
    # An empty list gets a separate error.
    channels = fields.List(
        EnumField(CHANNEL), required=True, validate=validate.Length(max=MAX_CHANNELS)
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
    data = fields.Nested(NotificationCreate, required=True)
    account_receiver_ids = AccountIds(
        metadata={"description": "For long lists, in addition to those of the query"}
    )


class BroadcastQuery(WithReceivers):
    account_receiver_ids = AccountIds(
        metadata={"description": "Ids of accounts; default: all accounts"}
    )


class ReachQuestion(WithReceivers):
    channels = fields.List(
        EnumField(CHANNEL), required=True, validate=validate.Length(min=1, max=MAX_CHANNELS)
    )
    account_receiver_ids = AccountIds(
        metadata={"description": "Ids of accounts; default: all accounts"}
    )


class LeftOut(Schema):
    reason = fields.String(required=True)
    receivers = fields.Integer(required=True)


class ChannelReach(Schema):
    reached = fields.Integer(required=True)
    left_out = fields.List(fields.Nested(LeftOut), required=True)


class ReachRead(Schema):
    receivers = fields.Integer(required=True)
    channels = fields.Dict(keys=fields.String(), values=fields.Nested(ChannelReach), required=True)


class OutcomeQuery(RequestSchema):
    state = EnumField(DELIVERY_STATE, load_default=FAILED)
    channel = EnumField(CHANNEL)
    limit = StrictInteger(
        load_default=100, min=1, max=500, metadata={"description": "How many to return at most"}
    )
    after = StrictInteger(
        metadata={"description": "The `id` of the last item of the previous page"}
    )


class OutcomeRead(Schema):
    """The result of a delivery of a notification."""

    id = fields.Integer(required=True)
    receiver_id = AccountId(required=True)
    # None if the account was deleted.
    email = fields.String(required=True, allow_none=True)
    channel = fields.String(required=True)
    state = EnumField(DELIVERY_STATE, required=True)
    attempts = fields.Integer(required=True)
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why it is not sent"}
    )
    finished_at = Timestamp(required=True, allow_none=True)


class InboxItemLinks(Schema):
    """Paths with the right ids, for GET, PATCH and DELETE."""

    self_ = fields.String(data_key="self", required=True)
    mark = fields.String(required=True)
    delete = fields.String(required=True)


class InboxItemRow(Schema):
    """The columns of an inbox item and of its notification."""

    id = fields.Integer(required=True)
    notification_id = fields.Integer(required=True)
    receiver_id = AccountId(required=True)
    is_read = fields.Boolean(required=True)
    title = fields.String(required=True)
    message = fields.String(required=True)
    channels = fields.List(EnumField(CHANNEL), required=True)
    sender_id = AccountId(required=True, allow_none=True)
    notification_type = EnumField(NOTIFICATION_TYPE, required=True)
    scope = fields.String(required=True)
    created_at = Timestamp(required=True)


class InboxItemRead(InboxItemRow):
    links = fields.Nested(InboxItemLinks, required=True)


class UnreadCount(Schema):
    unread = fields.Integer(required=True)


class DeliveryCounts(Schema):
    pending = fields.Integer(required=True)
    sent = fields.Integer(required=True)
    failed = fields.Integer(required=True)
    skipped = fields.Integer(required=True)


def _deliveries(*, allow_none: bool = False) -> Any:
    """Counts by channel."""
    return fields.Dict(
        keys=fields.String(),
        values=fields.Nested(DeliveryCounts),
        required=True,
        allow_none=allow_none,
    )


class NotificationRead(Schema):
    id = fields.Integer(required=True)
    title = fields.String(required=True)
    message = fields.String(required=True)
    channels = fields.List(EnumField(CHANNEL), required=True)
    sender_id = AccountId(required=True, allow_none=True)
    notification_type = EnumField(NOTIFICATION_TYPE, required=True)
    scope = fields.String(required=True)
    created_at = Timestamp(required=True)
    receivers = fields.Integer(required=True)
    read = fields.Integer(required=True)
    deliveries = _deliveries()


class ListedNotificationRead(NotificationRead):
    """In a list, large notifications have no counts before they are counted."""

    read = fields.Integer(required=True, allow_none=True)
    deliveries = _deliveries(allow_none=True)
