from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from ..core.http.fields import Flag, Moment, Page, Received, Text, Whole
from .models import LINE_BREAK, MESSAGE_LENGTH, TITLE_LENGTH

MOST_CHANNELS = 50


def one_line(text: str) -> None:
    if LINE_BREAK.search(text):
        raise ValidationError("Must be one line.")


class InboxPage(Page):
    is_read = Flag(metadata={"description": "Only those that are read, or are not"})


class Mark(Received):
    status = Flag(
        load_default=None, metadata={"description": "Read or unread; left out: the other way round"}
    )


class WithReceivers(Received):
    """Receivers that are named in another way, or elsewhere, are not passed over: without any, all
    accounts are meant."""

    @validates_schema(pass_original=True)
    def refuse_other_receivers(self, _data: Any, original: Any, **_: Any) -> None:
        others = [name for name in original if "receiver" in name.lower()]
        faults = {name: ["Unknown field."] for name in others if name not in self.fields}
        if faults:
            raise ValidationError(faults)


class NotificationCreate(WithReceivers):
    title = Text(min=1, max=TITLE_LENGTH, required=True, validate=one_line)
    message = Text(min=1, max=MESSAGE_LENGTH, required=True)
    # Which channels there are is the host's to say, and an empty list has a status of its own.
    channels = fields.List(Text(max=50), required=True, validate=validate.Length(max=MOST_CHANNELS))


class Broadcast(WithReceivers):
    data = fields.Nested(NotificationCreate, required=True)
    account_receiver_ids = fields.List(
        Whole(min=0),
        validate=validate.Length(min=1),
        metadata={"description": "For long lists, beside those of the query"},
    )


class Receivers(WithReceivers):
    account_receiver_ids = fields.List(
        Whole(min=0), metadata={"description": "Ids of accounts; left out: all accounts"}
    )


class InboxItemRead(Schema):
    id = fields.Integer(required=True)
    notification_id = fields.Integer(required=True)
    receiver_id = fields.Integer(required=True)
    is_read = fields.Boolean(required=True)
    title = fields.String(required=True)
    message = fields.String(required=True)
    channels = fields.List(fields.String(), required=True)
    sender_id = fields.Integer(required=True, allow_none=True)
    notification_type = fields.String(required=True)
    scope = fields.String(required=True)
    created_at = Moment(required=True)


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
    channels = fields.List(fields.String(), required=True)
    sender_id = fields.Integer(required=True, allow_none=True)
    notification_type = fields.String(required=True)
    scope = fields.String(required=True)
    created_at = Moment(required=True)
    receivers = fields.Integer(required=True)
    read = fields.Integer(required=True)
    deliveries = _deliveries()


class ListedNotificationRead(NotificationRead):
    """In a list, those that went to many and were never counted have no counts yet."""

    read = fields.Integer(required=True, allow_none=True)
    deliveries = _deliveries(allow_none=True)
