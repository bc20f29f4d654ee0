"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from ..core.coded_messages import REQUIRED, CodedMessage
from ..core.context import current_frontdesk
from ..core.types import JsonObject
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
    response_field,
)
from ..delivery.outbox.models import STATES
from .content import JsonData, Link
from .kinds import INAPP, NotificationKinds
from .models import ADMIN, KEY_LENGTH, LINE_BREAK, MESSAGE_LENGTH, SYSTEM, TITLE_LENGTH

MAX_CHANNELS = 50
# The channels of the API contract; applications can add channels.
CHANNELS = (INAPP, "push", "email", "sms", "discord")
CHANNEL = NamedEnum("Channel", lambda: (*CHANNELS, *current_frontdesk.hooks.named("channel")))
# Open, because stored kinds may no longer be declared.
KIND = NamedEnum("NotificationKind", lambda: current_frontdesk.get(NotificationKinds), is_open=True)
DELIVERY_STATE = NamedEnum("DeliveryState", STATES)
NOTIFICATION_TYPE = NamedEnum("NotificationType", (SYSTEM, ADMIN))
_IN_LINE = r"\x00\r\n\v\f\x1c-\x1f\x85\u2028\u2029"
ONE_LINE = rf"^[^{_IN_LINE}]*[^{_IN_LINE}\s][^{_IN_LINE}]*$"
NOT_ONE_LINE = CodedMessage("Must be one line.", "invalid_format", expected="line")
VISIBLE_ASCII = "^[!-~]*$"
UNKNOWN_FIELD = CodedMessage("Unknown field.", "unknown_field")


def one_line(text: str) -> None:
    if LINE_BREAK.search(text):
        raise ValidationError(NOT_ONE_LINE)


class InboxPage(Page):
    class Input(Page.Input):
        is_read: NotRequired[bool]
        workspace: NotRequired[str]
        kind: NotRequired[str]

    is_read = StrictBoolean(description="Only read (`true`) or unread (`false`) items.")
    workspace = Text(max=100, description="Only items about the workspace with this slug.")
    kind = EnumField(KIND, description="Only items of this kind.")


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
        others = [x for x in original if "receiver" in x.lower() and x not in self.fields]
        if others:
            raise ValidationError({name: [UNKNOWN_FIELD] for name in others})


class NotificationCreate(WithReceivers):
    class Input(TypedDict):
        title: str
        message: str
        channels: NotRequired[list[str]]
        url: NotRequired[str]
        kind: NotRequired[str]
        data: NotRequired[JsonObject]
        workspace_id: NotRequired[int]
        key: NotRequired[str]

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
        validate=validate.Length(max=MAX_CHANNELS),
        metadata={
            "description": "Channels on which the notification is sent. Required without a `kind`;"
            " default with one: the channels of the kind."
        },
    )
    url = Link(
        description="Page that the notification opens: an http(s) URL, or a path of the web client."
    )
    kind = EnumField(KIND, description="Kind of the notification. Default: `announcements`.")
    data = JsonData(
        description="Data for clients and email templates: at most 4,096 bytes of JSON, nested at"
        " most 8 levels deep."
    )
    workspace_id = StrictInteger(description="ID of the workspace that the notification is about.")

    key = Text(
        min=1,
        max=KEY_LENGTH,
        pattern=VISIBLE_ASCII,
        validate=validate.Regexp(f"{VISIBLE_ASCII[:-1]}\\Z"),
        description="Key of the request, of visible ASCII characters. A request that is repeated"
        " with its key within seven days sends nothing and returns the stored notification, with"
        " the header `Idempotent-Replayed: true`.",
    )

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def require_channels(self, _data: object, original: object, **_: object) -> None:
        if isinstance(original, Mapping) and not {"channels", "kind"} & original.keys():
            raise ValidationError({"channels": [REQUIRED]})


NO_RECEIVERS = CodedMessage(
    "The list is empty. Leave it out to send to all accounts.",
    "too_short",
    expected="accounts",
    min=1,
)


class AccountIds(Described, fields.List[Any]):
    """Ids of accounts. Reject an empty list: only a missing list means all accounts."""

    def __init__(self, *, max: int | None = None, **kwargs: Any) -> None:
        length = validate.Length(min=1, max=max)
        super().__init__(AccountId(received=True), validate=length, **kwargs)

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if value in (None, [], [""]):
            raise ValidationError(NO_RECEIVERS)
        return super().deserialize(value, *args, **kwargs)


OPEN_URL = "URL that the notification opens: `url`, of a path the URL of the web client's page."


class InboxItemLinks(Schema):
    """Paths with the right ids, for GET, PATCH and DELETE."""

    self_ = response_field(fields.String, "Path of the inbox item.", data_key="self")
    mark = response_field(fields.String, "Path that marks the inbox item as read.")
    delete = response_field(fields.String, "Path that deletes the inbox item.")
    open = response_field(fields.String, OPEN_URL, allow_none=True)


class ContentRow(Schema):
    """The columns of a notification that are optional for its sender."""

    url = response_field(
        fields.String, "Page that the notification opens, as sent.", allow_none=True
    )
    kind = response_field(
        EnumField, "Kind of the notification; it may no longer exist.", KIND, allow_none=True
    )
    data = response_field(fields.Dict, "Data of the sender for clients.", allow_none=True)
    workspace_id = response_field(
        fields.Integer, "ID of the workspace that the notification is about.", allow_none=True
    )


class InboxItemRow(ContentRow):
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


class Seen(RequestSchema):
    class Meta(RequestSchema.Meta):
        may_be_missing = True

    class Input(TypedDict):
        id: int | None

    id = StrictInteger(
        load_default=None,
        description="ID of the newest inbox item that was shown. If omitted, the newest of all.",
    )


class UnreadCount(Schema):
    unread = response_field(fields.Integer, "Number of unread notifications.")
    unseen = response_field(
        fields.Integer,
        "Number of unread notifications that are newer than the newest one that was seen.",
    )


ITEM = {
    "id": 7,
    "notification_id": 3,
    "receiver_id": 1,
    "is_read": False,
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
    "url": "/news/7",
    "kind": "announcements",
    "data": {"article": 7},
    "workspace_id": None,
    "links": {
        "self": "/api/v1/notifications/7",
        "mark": "/api/v1/notifications/3/mark",
        "delete": "/api/v1/notifications/7",
        "open": "https://app.example.com/news/7",
    },
}
READ_ITEM = {**ITEM, "is_read": True}
UNREAD = {"unread": 4, "unseen": 1}
SHOWN = {"id": 7}
SEEN = {"unread": 4, "unseen": 0}
MARKED = {"message": "4 notifications marked"}
