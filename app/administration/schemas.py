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
    about = {"description": "Maximum number of items to return."}
    return StrictInteger(load_default=100, min=1, max=MAX_LIMIT, metadata=about)


class AccountQuery(RequestSchema):
    search = Text(
        min=1,
        max=320,
        strip=True,
        metadata={
            "description": "Start of an email address in any case, or a complete ID or phone"
            " number."
        },
    )
    status = EnumField(STATUS, metadata={"description": "Only accounts with this status."})
    role = EnumField(ROLE, metadata={"description": "Only accounts with this role."})
    verified = StrictBoolean(
        metadata={
            "description": "Only accounts with a verified (`true`) or an unverified (`false`)"
            " email address."
        }
    )
    mfa = StrictBoolean(
        metadata={"description": "Only accounts with (`true`) or without (`false`) an MFA method."}
    )
    created_after = Timestamp(metadata={"description": "Only accounts created after this time."})
    last_login_before = Timestamp(
        metadata={"description": "Only accounts that last signed in before this time, or never."}
    )
    sort = EnumField(
        SORT,
        metadata={
            "description": "Order of the list. Default: `-created_at`, or `email` with `search`."
        },
    )
    limit = limit()
    offset = StrictInteger(
        load_default=0,
        max=MAX_OFFSET,
        metadata={"description": "Number of accounts to skip; cannot be combined with `after`."},
    )
    after = Text(
        min=1,
        max=CURSOR_LENGTH,
        metadata={
            "description": "Position after which the page starts, from the `Link` header of the"
            " previous page."
        },
    )

    @validates_schema(skip_on_field_errors=True)
    def reject_after_and_offset(self, data: Loaded, **kwargs: object) -> None:
        if "after" in data and data["offset"]:
            raise ValidationError("Not together with after.", "offset")


class AccountDetails(AccountRead):
    """An account for administrators."""

    has_password = fields.Boolean(
        required=True, metadata={"description": "Whether the account has a password."}
    )
    suspended_until = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the suspension ends automatically."},
    )
    suspended_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Reason for the suspension, which only administrators see."},
    )


class AccountCreate(RequestSchema):
    email = Text(
        min=1,
        max=320,
        strip=True,
        required=True,
        metadata={"description": "Email address of the new account."},
    )
    password = NewPassword(
        required=False,
        load_default=None,
        metadata={
            "description": "Password of the new account. Without one, the owner sets a password"
            " by email."
        },
    )
    role = EnumField(
        ROLE,
        load_default="user",
        metadata={"description": "Role of the new account. Only root can create administrators."},
    )
    status = EnumField(
        STATUS,
        min=1,
        load_default=None,
        metadata={"description": "Status of the new account; `active` if omitted."},
    )
    phone = Text(
        min=1,
        max=32,
        load_default=None,
        metadata={"description": "Phone number in international format, such as `+442079460000`."},
    )
    invite = StrictBoolean(
        load_default=False,
        metadata={
            "description": "Send an email with a link to set a password. Cannot be combined with"
            " `password`."
        },
    )

    @validates_schema(skip_on_field_errors=True)
    def reject_invite_and_password(self, data: Loaded, **kwargs: object) -> None:
        if data["invite"] and data["password"] is not None:
            raise ValidationError("Not together with a password.", "invite")


class AccountEdit(RequestSchema):
    role = EnumField(
        ROLE, metadata={"description": "New role. Only root can appoint administrators."}
    )
    status = EnumField(
        STATUS,
        min=1,
        metadata={"description": "New status. Any status ends an earlier suspension."},
    )
    suspended_until = Timestamp(
        allow_none=True,
        metadata={
            "description": "When the suspension ends automatically; only with the status"
            " `suspended`."
        },
    )
    suspended_reason = Text(
        min=1,
        max=REASON_LENGTH,
        allow_none=True,
        strip=True,
        metadata={"description": "Reason for the suspension, which only administrators see."},
    )


class AccountDeletionQuery(RequestSchema):
    email = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        metadata={"description": "Delete the account only if it has this email address."},
    )


class DeliveryQuery(RequestSchema):
    limit = limit()
    after = StrictInteger(
        metadata={"description": "`id` of the last delivery of the previous page."}
    )


class DeliveryRead(Schema):
    """A delivery to an account, without its text."""

    id = fields.Integer(required=True, metadata={"description": "ID of the delivery."})
    channel = fields.String(
        required=True, metadata={"description": "Channel of the message, such as `email` or `sms`."}
    )
    state = EnumField(
        DELIVERY_STATE, required=True, metadata={"description": "State of the delivery."}
    )
    title = fields.String(required=True, metadata={"description": "Title of the message."})
    notification_id = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "ID of the notification, or `null` for a transactional email."},
    )
    attempts = fields.Integer(required=True, metadata={"description": "Number of attempts so far."})
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why the message was not sent."}
    )
    created_at = Timestamp(
        required=True, metadata={"description": "When the delivery was created."}
    )
    finished_at = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the message was sent, or finally failed."},
    )


class MembershipRead(Schema):
    """The membership of an account in a workspace."""

    workspace_id = fields.Integer(
        required=True, attribute="workspace.id", metadata={"description": "ID of the workspace."}
    )
    slug = fields.String(
        required=True,
        attribute="workspace.slug",
        metadata={"description": "Slug of the workspace."},
    )
    name = fields.String(
        required=True,
        attribute="workspace.name",
        metadata={"description": "Name of the workspace."},
    )
    type = EnumField(
        MEMBER_TYPE,
        required=True,
        attribute="member.type",
        metadata={"description": "Role of the member in the workspace."},
    )
    status = EnumField(
        MEMBER_STATUS,
        required=True,
        attribute="member.status",
        metadata={
            "description": "Status of the membership. Only members with the status `active` can"
            " use the workspace."
        },
    )
    created_at = Timestamp(
        required=True,
        attribute="member.created_at",
        metadata={"description": "When the membership was created."},
    )


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
