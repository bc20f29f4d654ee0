"""Schemas of workspaces and members, with the examples of the OpenAPI document."""

from typing import NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields

from ..auth.schemas import LoginRead
from ..core.web.fields import (
    AccountId,
    EnumField,
    NamedEnum,
    Page,
    RequestSchema,
    Text,
    Timestamp,
    response_field,
)
from .models import ACTIVE, MEMBER_TYPES, NAME_LENGTH, STATUS, STATUS_LENGTH
from .slugs import MAX_LENGTH, MIN_LENGTH, PATTERN, slug_error

MEMBER_TYPE = NamedEnum("MemberType", MEMBER_TYPES)
MEMBER_STATUS = NamedEnum(
    "MemberStatus",
    (ACTIVE,),
    is_open=True,
    description="Routes for active members reject members with another status",
)


class NewSlug(Text):
    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        slug = super()._deserialize(value, attr, data, **kwargs)
        if reason := slug_error(slug):
            raise ValidationError(reason)
        return slug


class WorkspaceCreate(RequestSchema):
    class Input(TypedDict):
        name: str
        slug: NotRequired[str]

    name = Text(
        min=1, max=NAME_LENGTH, strip=True, required=True, description="Name of the workspace."
    )
    slug = NewSlug(
        min=MIN_LENGTH,
        max=MAX_LENGTH,
        pattern=PATTERN,
        description="Slug of the workspace; derived from the name if omitted. Path"
        " segments such as `admin` are reserved.",
    )


class WorkspaceChange(RequestSchema):
    class Input(TypedDict, total=False):
        name: str
        slug: str

    name = Text(min=1, max=NAME_LENGTH, strip=True, description="New name of the workspace.")
    slug = NewSlug(
        min=MIN_LENGTH,
        max=MAX_LENGTH,
        pattern=PATTERN,
        description="New slug of the workspace. The old slug stops working.",
    )


class WorkspaceEnd(RequestSchema):
    class Input(TypedDict):
        name: str | None

    name = Text(
        max=NAME_LENGTH,
        load_default=None,
        description="Name of the workspace: deletes the workspace only if the name matches.",
    )


class WorkspaceSwitch(RequestSchema):
    class Input(TypedDict):
        slug: str

    slug = Text(
        min=1, max=MAX_LENGTH, required=True, description="Slug of the new current workspace."
    )


class WorkspaceRead(Schema):
    id = response_field(fields.Integer, "ID of the workspace.", attribute="workspace.id")
    slug = response_field(
        fields.String,
        "Slug of the workspace, for paths and the header `X-Workspace`.",
        attribute="workspace.slug",
    )
    name = response_field(fields.String, "Name of the workspace.", attribute="workspace.name")
    is_default = response_field(
        fields.Boolean,
        "Whether the workspace is the default workspace.",
        attribute="workspace.is_default",
    )
    created_at = response_field(
        Timestamp, "When the workspace was created.", attribute="workspace.created_at"
    )
    type = response_field(
        EnumField, "Role of the caller in the workspace.", MEMBER_TYPE, attribute="member.type"
    )
    status = response_field(
        EnumField, "Status of the caller's membership.", MEMBER_STATUS, attribute="member.status"
    )


class CommonWorkspaceRead(Schema):
    """A workspace for an operator, who has no membership."""

    id = response_field(fields.Integer, "ID of the workspace.")
    slug = response_field(fields.String, "Slug of the workspace.")
    name = response_field(fields.String, "Name of the workspace.")
    is_default = response_field(fields.Boolean, "Whether the workspace is the default workspace.")
    created_at = response_field(Timestamp, "When the workspace was created.")


class MemberPage(Page):
    class Input(Page.Input):
        search: str | None

    search = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        description="Part of an email address or name in any case, or a complete ID.",
    )


class MemberCreate(RequestSchema):
    class Input(TypedDict):
        email: str
        type: str
        status: str

    email = Text(
        min=1, blank=True, max=320, required=True, description="Email address of the new member."
    )
    type = EnumField(MEMBER_TYPE, load_default="member", description="Role of the new member.")
    status = EnumField(
        MEMBER_STATUS,
        min=1,
        max=STATUS_LENGTH,
        pattern=STATUS.pattern,
        load_default=ACTIVE,
        description="Status of the new membership.",
    )


class MemberUpdate(RequestSchema):
    class Input(TypedDict, total=False):
        type: str
        status: str

    type = EnumField(MEMBER_TYPE, description="New role of the member.")
    status = EnumField(
        MEMBER_STATUS,
        min=1,
        max=STATUS_LENGTH,
        pattern=STATUS.pattern,
        description="New status of the membership.",
    )


class UserRead(Schema):
    """The caller's membership in the login response."""

    id = response_field(fields.Integer, "ID of the membership.")
    workspace_id = response_field(fields.Integer, "ID of the workspace.")
    account_id = response_field(AccountId, "ID of the member's account.")
    type = response_field(EnumField, "Role of the member in the workspace.", MEMBER_TYPE)
    status = response_field(
        EnumField,
        "Status of the membership. Only members with the status `active` can use the workspace.",
        MEMBER_STATUS,
    )
    created_at = response_field(Timestamp, "When the membership was created.")


class MemberRead(Schema):
    id = response_field(fields.Integer, "ID of the membership.", attribute="member.id")
    workspace_id = response_field(
        fields.Integer, "ID of the workspace.", attribute="member.workspace_id"
    )
    account_id = response_field(
        AccountId, "ID of the member's account.", attribute="member.account_id"
    )
    email = response_field(fields.String, "Email address of the member's account.")
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


class AddedRead(MemberRead):
    """The added member. Before an invitation is accepted, `id` and `account_id` are null."""

    id = response_field(
        fields.Integer, "ID of the membership.", allow_none=True, attribute="member.id"
    )
    account_id = response_field(
        AccountId,
        "ID of the member's account; `null` for an invitation.",
        allow_none=True,
        attribute="member.account_id",
    )


class WorkspaceLoginRead(LoginRead):
    """The response of a sign-in with workspaces. Subclass it to add fields."""

    user = response_field(
        fields.Nested, "Membership in the current workspace, or `null`.", UserRead, allow_none=True
    )
    workspaces = response_field(
        fields.List, "Workspaces of the account, at most 100.", fields.Nested(WorkspaceRead)
    )
    current_workspace_id = response_field(
        fields.Integer, "ID of the account's current workspace.", allow_none=True
    )


TEAM = {"name": "Gardeners", "slug": "gardeners"}
TEAM_READ = {
    "id": 7,
    **TEAM,
    "is_default": False,
    "created_at": "2030-01-01T12:00:00+00:00",
    "type": "owner",
    "status": "active",
}
GRACE = {"email": "grace@example.com", "type": "member", "status": "active"}
GRACE_READ = {
    "id": 12,
    "workspace_id": 7,
    "account_id": 3,
    **GRACE,
    "created_at": "2030-01-01T12:00:00+00:00",
}
SWITCH = {"slug": "gardeners"}
PROMOTE = {"type": "admin"}
GRACE_PROMOTED = {**GRACE_READ, **PROMOTE}
ADDED = {**GRACE_READ, "id": None, "account_id": None, "status": "invited"}
INVITE = {"emails": ["grace@example.com"], "type": "member", "message": "We grow beans."}
INVITED = {
    "id": 5,
    "workspace_id": 7,
    "email": "grace@example.com",
    "type": "member",
    "state": "pending",
    "message": "We grow beans.",
    "inviter": "ada@example.com",
    "sends": 1,
    "sent_at": "2030-01-01T12:00:00+00:00",
    "expires_at": "2030-01-08T12:00:00+00:00",
    "created_at": "2030-01-01T12:00:00+00:00",
}
RECEIVED = {
    "id": 5,
    "workspace": TEAM,
    "inviter": "ada@example.com",
    "type": "member",
    "message": "We grow beans.",
    "expires_at": "2030-01-08T12:00:00+00:00",
    "created_at": "2030-01-01T12:00:00+00:00",
}
MAILED = {**RECEIVED, "email_hint": "g…@example.com", "account_exists": True}
SECRET = {"token": "WzUsIjRhZi4uLiJd.aXk3Mw.Vb1c"}
