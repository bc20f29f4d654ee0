"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from marshmallow import Schema, ValidationError, fields, validates_schema

from ..accounts.models import REASON_LENGTH
from ..accounts.schemas import ROLE, STATUS, AccountRead
from ..auth.examples import ACCOUNT
from ..auth.schemas import NewPassword
from ..core.types import Loaded
from ..core.web.fields import (
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictBoolean,
    StrictInteger,
    Text,
    Timestamp,
)
from ..notifications.schemas import DELIVERY_STATE
from ..workspaces.schemas import MEMBER_STATUS, MEMBER_TYPE

COLUMNS = ("created_at", "email", "last_login_date", "id")
SORT = NamedEnum("AccountSort", (*COLUMNS, *(f"-{name}" for name in COLUMNS)))
# Beyond it a page costs what all before it cost; `after` leads on at no price.
MOST_OFFSET = 10_000
LONGEST_PLACE = 1_000
MOST = 500


def limit() -> StrictInteger:
    about = {"description": "How many to return at most"}
    return StrictInteger(load_default=100, min=1, max=MOST, metadata=about)


class AccountQuery(RequestSchema):
    search = Text(
        min=1,
        max=320,
        strip=True,
        metadata={
            "description": "How the e-mail begins, in any case; or all of an id or a phone number,"
            " which then is what is found"
        },
    )
    status = EnumField(STATUS)
    role = EnumField(ROLE)
    verified = StrictBoolean(
        metadata={"description": "Only those whose address is proven, or is not"}
    )
    mfa = StrictBoolean(metadata={"description": "Only those with a second factor, or without one"})
    created_after = Timestamp()
    last_login_before = Timestamp(
        metadata={"description": "Those who have never signed in are among them"},
    )
    sort = EnumField(
        SORT,
        metadata={"description": "Left out: `-created_at`, or `email` with a search"},
    )
    limit = limit()
    offset = StrictInteger(
        load_default=0,
        max=MOST_OFFSET,
        metadata={"description": "How many to pass over; not together with `after`"},
    )
    after = Text(
        min=1,
        max=LONGEST_PLACE,
        metadata={"description": "Where the page before has ended, as its `Link` has it"},
    )

    @validates_schema(skip_on_field_errors=True)
    def refuse_two_places(self, data: Loaded, **kwargs: object) -> None:
        if "after" in data and data["offset"]:
            raise ValidationError("Not together with after.", "offset")


class AccountDetails(AccountRead):
    """An account as an administrator sees it."""

    has_password = fields.Boolean(required=True)
    suspended_until = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the account is active again by itself"},
    )
    suspended_reason = fields.String(required=True, allow_none=True)


class AccountCreate(RequestSchema):
    email = Text(min=1, max=320, strip=True, required=True)
    password = NewPassword(required=False, load_default=None)
    role = EnumField(ROLE, load_default="user")
    status = EnumField(STATUS, min=1, load_default=None)
    phone = Text(min=1, max=32, load_default=None)
    invite = StrictBoolean(
        load_default=False,
        metadata={"description": "Mail a link to choose a password with, in the place of one"},
    )

    @validates_schema(skip_on_field_errors=True)
    def refuse_both(self, data: Loaded, **kwargs: object) -> None:
        if data["invite"] and data["password"] is not None:
            raise ValidationError("Not together with a password.", "invite")


class AccountEdit(RequestSchema):
    role = EnumField(ROLE)
    status = EnumField(STATUS, min=1)
    suspended_until = Timestamp(
        allow_none=True,
        metadata={"description": "With the status `suspended`: when it ends by itself"},
    )
    suspended_reason = Text(
        min=1,
        max=REASON_LENGTH,
        allow_none=True,
        strip=True,
        metadata={"description": "With the status `suspended`; shown to administrators alone"},
    )


class AccountDeletionQuery(RequestSchema):
    email = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        metadata={"description": "Delete it only if this is its address"},
    )


class DeliveryQuery(RequestSchema):
    limit = limit()
    after = StrictInteger(metadata={"description": "The `id` of the page's last one"})


class DeliveryRead(Schema):
    """What was sent to an account, or is to be; not what it says."""

    id = fields.Integer(required=True)
    channel = fields.String(required=True)
    state = EnumField(DELIVERY_STATE, required=True)
    title = fields.String(required=True)
    notification_id = fields.Integer(required=True, allow_none=True)
    attempts = fields.Integer(required=True)
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why it was not sent, or not yet"}
    )
    created_at = Timestamp(required=True)
    finished_at = Timestamp(required=True, allow_none=True)


class MembershipRead(Schema):
    """A workspace that an account is in, and as what."""

    workspace_id = fields.Integer(required=True, attribute="workspace.id")
    slug = fields.String(required=True, attribute="workspace.slug")
    name = fields.String(required=True, attribute="workspace.name")
    type = EnumField(MEMBER_TYPE, required=True, attribute="member.type")
    status = EnumField(MEMBER_STATUS, required=True, attribute="member.status")
    created_at = Timestamp(required=True, attribute="member.created_at")


DETAILS = {
    **ACCOUNT,
    "email_verified": True,
    "has_password": True,
    "suspended_until": None,
    "suspended_reason": None,
}
NEW = {"email": "grace@example.com", "role": "user", "invite": True}
MADE = {**DETAILS, "id": 3, "email": "grace@example.com", "has_password": False}
SUSPEND = {
    "status": "suspended",
    "suspended_until": "2030-02-01T00:00:00+00:00",
    "suspended_reason": "Sells beans to everybody",
}
SUSPENDED = {**MADE, **SUSPEND}
RECOVERY_SENT = {"message": "Password recovery email sent"}
DELIVERY = {
    "id": 41,
    "channel": "email",
    "state": "failed",
    "title": "Opening hours",
    "notification_id": 17,
    "attempts": 1,
    "reason": "550 no such mailbox",
    "created_at": "2030-01-01T12:00:00+00:00",
    "finished_at": "2030-01-01T12:00:02+00:00",
}
MEMBERSHIP = {
    "workspace_id": 7,
    "slug": "gardeners",
    "name": "Gardeners",
    "type": "member",
    "status": "active",
    "created_at": "2030-01-01T12:00:00+00:00",
}
