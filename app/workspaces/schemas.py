from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from ..auth.schemas import LoginRead
from ..core.http.fields import Moment, Received, Text
from .models import ACTIVE, NAME_LENGTH, STATUS_LENGTH
from .rules import TYPES
from .slugs import LONGEST, unfit


class NewSlug(Text):
    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        slug = super()._deserialize(value, attr, data, **kwargs)
        if reason := unfit(slug):
            raise ValidationError(reason)
        return slug


class WorkspaceCreate(Received):
    name = Text(min=1, max=NAME_LENGTH, strip=True, required=True)
    slug = NewSlug(max=LONGEST, metadata={"description": "Left out: one like the name"})


class WorkspaceSwitch(Received):
    slug = Text(min=1, max=LONGEST, required=True)


class WorkspaceRead(Schema):
    id = fields.Integer(required=True, attribute="workspace.id")
    slug = fields.String(required=True, attribute="workspace.slug")
    name = fields.String(required=True, attribute="workspace.name")
    is_default = fields.Boolean(required=True, attribute="workspace.is_default")
    created_at = Moment(required=True, attribute="workspace.created_at")
    type = fields.String(
        required=True, attribute="member.type", metadata={"description": "The caller's type"}
    )
    status = fields.String(
        required=True, attribute="member.status", metadata={"description": "The caller's status"}
    )


class CommonWorkspaceRead(Schema):
    """A workspace as an operator sees it: without a caller."""

    id = fields.Integer(required=True)
    slug = fields.String(required=True)
    name = fields.String(required=True)
    is_default = fields.Boolean(required=True)
    created_at = Moment(required=True)


class MemberCreate(Received):
    email = Text(min=1, max=320, required=True)
    type = Text(max=20, validate=validate.OneOf(TYPES), load_default="member")
    status = Text(min=1, max=STATUS_LENGTH, load_default=ACTIVE)


class MemberUpdate(Received):
    type = Text(max=20, validate=validate.OneOf(TYPES))
    status = Text(min=1, max=STATUS_LENGTH)


class UserRead(Schema):
    """A membership, as the login response shows the caller's own."""

    id = fields.Integer(required=True)
    workspace_id = fields.Integer(required=True)
    account_id = fields.Integer(required=True)
    type = fields.String(required=True)
    status = fields.String(required=True)
    created_at = Moment(required=True)


class MemberRead(Schema):
    id = fields.Integer(required=True, attribute="member.id")
    workspace_id = fields.Integer(required=True, attribute="member.workspace_id")
    account_id = fields.Integer(required=True, attribute="member.account_id")
    email = fields.String(required=True)
    type = fields.String(required=True, attribute="member.type")
    status = fields.String(required=True, attribute="member.status")
    created_at = Moment(required=True, attribute="member.created_at")


class WorkspaceLoginRead(LoginRead):
    """The login response of an application with workspaces."""

    user = fields.Nested(  # type: ignore[assignment]
        UserRead, required=True, allow_none=True
    )
    workspaces = fields.List(fields.Nested(WorkspaceRead), required=True)
    current_workspace_id = fields.Integer(required=True, allow_none=True)
