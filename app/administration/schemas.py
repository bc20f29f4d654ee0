"""Schemas of account management, with the examples of the OpenAPI document."""

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
# An offset reads all rows before it; `after` does not.
MAX_OFFSET = 10_000
CURSOR_LENGTH = 1_000
MAX_LIMIT = 500


def limit() -> StrictInteger:
    about = {"description": "How many to return at most"}
    return StrictInteger(load_default=100, min=1, max=MAX_LIMIT, metadata=about)


class AccountQuery(RequestSchema):
    search = Text(
        min=1,
        max=320,
        strip=True,
        metadata={
            "description": "The beginning of an email address, case-insensitive; or an exact id or"
            " phone number"
        },
    )
    status = EnumField(STATUS)
    role = EnumField(ROLE)
    verified = StrictBoolean(
        metadata={"description": "Only verified, or only unverified email addresses"}
    )
    mfa = StrictBoolean(metadata={"description": "Only accounts with MFA, or only those without"})
    created_after = Timestamp()
    last_login_before = Timestamp(
        metadata={"description": "Includes accounts that have never signed in"},
    )
    sort = EnumField(
        SORT,
        metadata={"description": "Default: `-created_at`, or `email` with a search"},
    )
    limit = limit()
    offset = StrictInteger(
        load_default=0,
        max=MAX_OFFSET,
        metadata={"description": "How many to skip; not together with `after`"},
    )
    after = Text(
        min=1,
        max=CURSOR_LENGTH,
        metadata={"description": "The cursor in the `Link` of the previous page"},
    )

    @validates_schema(skip_on_field_errors=True)
    def reject_after_and_offset(self, data: Loaded, **kwargs: object) -> None:
        if "after" in data and data["offset"]:
            raise ValidationError("Not together with after.", "offset")


class AccountDetails(AccountRead):
    """An account for administrators."""

    has_password = fields.Boolean(required=True)
    suspended_until = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the suspension ends"},
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
        metadata={"description": "Send a link to choose a password, instead of a password"},
    )

    @validates_schema(skip_on_field_errors=True)
    def reject_invite_and_password(self, data: Loaded, **kwargs: object) -> None:
        if data["invite"] and data["password"] is not None:
            raise ValidationError("Not together with a password.", "invite")


class AccountEdit(RequestSchema):
    role = EnumField(ROLE)
    status = EnumField(STATUS, min=1)
    suspended_until = Timestamp(
        allow_none=True,
        metadata={"description": "With the status `suspended`: when the suspension ends"},
    )
    suspended_reason = Text(
        min=1,
        max=REASON_LENGTH,
        allow_none=True,
        strip=True,
        metadata={"description": "With the status `suspended`; shown only to administrators"},
    )


class AccountDeletionQuery(RequestSchema):
    email = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        metadata={"description": "Delete the account only if this is its email address"},
    )


class DeliveryQuery(RequestSchema):
    limit = limit()
    after = StrictInteger(
        metadata={"description": "The `id` of the last item of the previous page"}
    )


class DeliveryRead(Schema):
    """A delivery to an account, without its text."""

    id = fields.Integer(required=True)
    channel = fields.String(required=True)
    state = EnumField(DELIVERY_STATE, required=True)
    title = fields.String(required=True)
    notification_id = fields.Integer(required=True, allow_none=True)
    attempts = fields.Integer(required=True)
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why it is not sent"}
    )
    created_at = Timestamp(required=True)
    finished_at = Timestamp(required=True, allow_none=True)


class MembershipRead(Schema):
    """The membership of an account in a workspace."""

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
