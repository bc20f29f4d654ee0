"""Schemas of workspaces and members, with the examples of the OpenAPI document."""

from __future__ import annotations

from marshmallow import Schema, ValidationError, fields

from ..auth.schemas import LoginRead
from ..core.web.fields import AccountId, EnumField, NamedEnum, Page, RequestSchema, Text, Timestamp
from .models import ACTIVE, MEMBER_TYPES, NAME_LENGTH, STATUS_LENGTH
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
    name = Text(min=1, max=NAME_LENGTH, strip=True, required=True)
    slug = NewSlug(
        min=MIN_LENGTH,
        max=MAX_LENGTH,
        pattern=PATTERN,
        metadata={
            "description": "Default: derived from the name. First segments of the API's paths, such"
            " as `admin`, are reserved."
        },
    )


class WorkspaceChange(RequestSchema):
    name = Text(min=1, max=NAME_LENGTH, strip=True)
    slug = NewSlug(min=MIN_LENGTH, max=MAX_LENGTH, pattern=PATTERN)


class WorkspaceEnd(RequestSchema):
    name = Text(
        max=NAME_LENGTH,
        load_default=None,
        metadata={"description": "The workspace's name, as a confirmation"},
    )


class WorkspaceSwitch(RequestSchema):
    slug = Text(min=1, max=MAX_LENGTH, required=True)


class WorkspaceRead(Schema):
    id = fields.Integer(required=True, attribute="workspace.id")
    slug = fields.String(required=True, attribute="workspace.slug")
    name = fields.String(required=True, attribute="workspace.name")
    is_default = fields.Boolean(required=True, attribute="workspace.is_default")
    created_at = Timestamp(required=True, attribute="workspace.created_at")
    type = EnumField(
        MEMBER_TYPE,
        required=True,
        attribute="member.type",
        metadata={"description": "The caller's type"},
    )
    status = EnumField(
        MEMBER_STATUS,
        required=True,
        attribute="member.status",
        metadata={"description": "The caller's status"},
    )


class CommonWorkspaceRead(Schema):
    """A workspace for an operator, who has no membership."""

    id = fields.Integer(required=True)
    slug = fields.String(required=True)
    name = fields.String(required=True)
    is_default = fields.Boolean(required=True)
    created_at = Timestamp(required=True)


class MemberPage(Page):
    search = Text(
        min=1,
        max=320,
        strip=True,
        load_default=None,
        metadata={"description": "The beginning of the email address, case-insensitive"},
    )


class MemberCreate(RequestSchema):
    email = Text(min=1, blank=True, max=320, required=True)
    type = EnumField(MEMBER_TYPE, load_default="member")
    status = EnumField(MEMBER_STATUS, min=1, max=STATUS_LENGTH, load_default=ACTIVE)


class MemberUpdate(RequestSchema):
    type = EnumField(MEMBER_TYPE)
    status = EnumField(MEMBER_STATUS, min=1, max=STATUS_LENGTH)


class UserRead(Schema):
    """The caller's membership in the login response."""

    id = fields.Integer(required=True)
    workspace_id = fields.Integer(required=True)
    account_id = AccountId(required=True)
    type = EnumField(MEMBER_TYPE, required=True)
    status = EnumField(MEMBER_STATUS, required=True)
    created_at = Timestamp(required=True)


class MemberRead(Schema):
    id = fields.Integer(required=True, attribute="member.id")
    workspace_id = fields.Integer(required=True, attribute="member.workspace_id")
    account_id = AccountId(required=True, attribute="member.account_id")
    email = fields.String(required=True)
    type = EnumField(MEMBER_TYPE, required=True, attribute="member.type")
    status = EnumField(MEMBER_STATUS, required=True, attribute="member.status")
    created_at = Timestamp(required=True, attribute="member.created_at")


class AddedRead(MemberRead):
    """The added member. Before an invitation is accepted, `id` and `account_id` are null."""

    id = fields.Integer(required=True, allow_none=True, attribute="member.id")
    account_id = AccountId(required=True, allow_none=True, attribute="member.account_id")


class WorkspaceLoginRead(LoginRead):
    """The login response of an application with workspaces."""

    user = fields.Nested(  # type: ignore[assignment]
        UserRead, required=True, allow_none=True
    )
    workspaces = fields.List(fields.Nested(WorkspaceRead), required=True)
    current_workspace_id = fields.Integer(required=True, allow_none=True)


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
