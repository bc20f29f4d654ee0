"""Schemas of account management, with the examples of the OpenAPI document."""

from datetime import datetime
from typing import NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validates_schema

from ..accounts.models import OWNER_FIELDS, REASON_LENGTH
from ..accounts.own_columns import required_columns, with_own_fields
from ..accounts.schemas import ROLE, STATUS, AccountRead, check_role
from ..auth.examples import ACCOUNT
from ..auth.schemas import NewPassword
from ..core.coded_messages import not_together
from ..core.context import current_frontdesk
from ..core.web.fields import (
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictBoolean,
    StrictInteger,
    Text,
    Timestamp,
    page_end,
    page_limit,
    page_start,
    response_field,
)
from ..notifications.schemas import DELIVERY_STATE
from ..workspaces.schemas import MEMBER_STATUS, MEMBER_TYPE

COLUMNS = ("created_at", "email", "last_login_date", "id")
SORT = NamedEnum("AccountSort", (*COLUMNS, *(f"-{name}" for name in COLUMNS)))
# An offset reads all rows before it; `after` does not.
MAX_OFFSET = 10_000
CURSOR_LENGTH = 1_000


class AccountQuery(RequestSchema):
    class Input(TypedDict):
        search: NotRequired[str]
        status: NotRequired[str]
        role: NotRequired[str]
        verified: NotRequired[bool]
        mfa: NotRequired[bool]
        created_after: NotRequired[datetime]
        last_login_after: NotRequired[datetime]
        last_login_before: NotRequired[datetime]
        sort: NotRequired[str]
        limit: int
        offset: int
        after: NotRequired[str]
        before: NotRequired[str]

    search = Text(
        min=1,
        max=320,
        strip=True,
        description="Part of an email address, name or phone number in any case, or a complete ID.",
    )
    status = EnumField(STATUS, description="Only accounts with this status.")
    role = EnumField(ROLE, validate=check_role, description="Only accounts with this role.")
    verified = StrictBoolean(
        description="Only accounts with a verified (`true`) or an unverified (`false`)"
        " email address."
    )
    mfa = StrictBoolean(
        description="Only accounts with (`true`) or without (`false`) an MFA method."
    )
    created_after = Timestamp(description="Only accounts created after this time.")
    last_login_after = Timestamp(description="Only accounts that last signed in after this time.")
    last_login_before = Timestamp(
        description="Only accounts that last signed in before this time, or never."
    )
    sort = EnumField(
        SORT,
        description="Order of the list. Default: `-created_at`, or `email` with `search`. More than"
        " 1,000 results of a search are always in the order `-created_at`.",
    )
    limit = page_limit()
    offset = StrictInteger(
        load_default=0,
        max=MAX_OFFSET,
        description="Number of accounts to skip; cannot be combined with `after`.",
    )
    after = page_start(CURSOR_LENGTH)
    before = page_end(CURSOR_LENGTH)

    @validates_schema(skip_on_field_errors=True)
    def reject_second_position(self, data: Input, **kwargs: object) -> None:
        if "after" in data and data["offset"]:
            raise ValidationError(not_together("after"), "offset")
        if "before" in data and ("after" in data or data["offset"]):
            raise ValidationError(not_together("after or offset"), "before")


class AccountDetails(AccountRead):
    """An account for administrators."""

    has_password = response_field(fields.Boolean, "Whether the account has a password.")
    suspended_until = response_field(
        Timestamp, "When the suspension ends automatically.", allow_none=True
    )
    suspended_reason = response_field(
        fields.String, "Reason for the suspension, which only administrators see.", allow_none=True
    )


class ChangedAccount(AccountDetails):
    """The response of a change."""

    workspaces_without_owner = response_field(
        fields.List,
        "Slugs of the shared workspaces of the account that have no active owner now."
        " `flask workspaces add SLUG EMAIL --type owner` appoints one.",
        fields.String(),
    )


class AccountCreate(RequestSchema):
    class Input(TypedDict):
        email: str
        password: str | None
        role: str
        status: str | None
        phone: str | None
        invite: bool

    email = Text(
        min=1, max=320, strip=True, required=True, description="Email address of the new account."
    )
    password = NewPassword(
        required=False,
        load_default=None,
        description="Password of the new account. Without one, the owner sets a password by email.",
    )
    role = EnumField(
        ROLE,
        validate=check_role,
        load_default="user",
        description="Role of the new account. Only root can create administrators.",
    )
    status = EnumField(
        STATUS,
        min=1,
        load_default=None,
        description="Status of the new account; `active` if omitted.",
    )
    phone = Text(
        min=1,
        max=32,
        load_default=None,
        description="Phone number in international format, such as `+442079460000`.",
    )
    invite = StrictBoolean(
        load_default=False,
        description="Send an email with a link to set a password. Cannot be combined with"
        " `password`.",
    )

    @validates_schema(skip_on_field_errors=True)
    def reject_invite_and_password(self, data: Input, **kwargs: object) -> None:
        if data["invite"] and data["password"] is not None:
            raise ValidationError(not_together("a password"), "invite")


class AccountEdit(RequestSchema):
    class Input(TypedDict, total=False):
        role: str
        status: str
        suspended_until: datetime | None
        suspended_reason: str | None

    role = EnumField(
        ROLE, validate=check_role, description="New role. Only root can appoint administrators."
    )
    status = EnumField(
        STATUS, min=1, description="New status. Any status ends an earlier suspension."
    )
    suspended_until = Timestamp(
        allow_none=True,
        description="When the suspension ends automatically; only with the status `suspended`.",
    )
    suspended_reason = Text(
        min=1,
        max=REASON_LENGTH,
        allow_none=True,
        strip=True,
        description="Reason for the suspension, which only administrators see.",
    )


def account_create() -> type[Schema]:
    """Return the schema with the fields that `Schemas(registration=…)` adds."""
    context = current_frontdesk
    required = frozenset(required_columns(context.tables.account_model))
    schema = context.schemas.get("registration")
    return with_own_fields(AccountCreate, schema, frozenset({"invitation"}), required)


def account_edit() -> type[Schema]:
    """Return the schema with the fields that `Schemas(account_update=…)` adds."""
    schema = current_frontdesk.schemas.get("account_update")
    return with_own_fields(AccountEdit, schema, OWNER_FIELDS)


class AccountDeletionQuery(RequestSchema):
    class Input(TypedDict):
        email: str | None

    email = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        description="Delete the account only if it has this email address.",
    )


class DeliveryQuery(RequestSchema):
    class Input(TypedDict):
        limit: int
        after: NotRequired[int]

    limit = page_limit()
    after = StrictInteger(description="`id` of the last delivery of the previous page.")


class DeliveryRead(Schema):
    """A delivery to an account, without its text."""

    id = response_field(fields.Integer, "ID of the delivery.")
    channel = response_field(fields.String, "Channel of the message, such as `email` or `sms`.")
    state = response_field(EnumField, "State of the delivery.", DELIVERY_STATE)
    title = response_field(fields.String, "Title of the message.")
    notification_id = response_field(
        fields.Integer,
        "ID of the notification, or `null` for a transactional email.",
        allow_none=True,
    )
    attempts = response_field(fields.Integer, "Number of attempts so far.")
    reason = response_field(fields.String, "Why the message was not sent.", allow_none=True)
    created_at = response_field(Timestamp, "When the delivery was created.")
    finished_at = response_field(
        Timestamp, "When the message was sent, or finally failed.", allow_none=True
    )


class MembershipRead(Schema):
    """The membership of an account in a workspace."""

    workspace_id = response_field(fields.Integer, "ID of the workspace.", attribute="workspace.id")
    slug = response_field(fields.String, "Slug of the workspace.", attribute="workspace.slug")
    name = response_field(fields.String, "Name of the workspace.", attribute="workspace.name")
    type = response_field(
        EnumField, "Role of the member in the workspace.", MEMBER_TYPE, attribute="member.type"
    )
    status = response_field(
        EnumField,
        "Status of the membership. Only members with the status `active` can use the workspace.",
        MEMBER_STATUS,
        attribute="member.status",
    )
    created_at = response_field(
        Timestamp, "When the membership was created.", attribute="member.created_at"
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
    "suspended_reason": "Sends spam",
}
SUSPENDED = {**MADE, **SUSPEND, "workspaces_without_owner": ["team"]}
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
