"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from typing import TypedDict

from marshmallow import Schema, fields, validate

from ..auth.scopes import NAME_LENGTH as SCOPE_LENGTH
from ..core.web.fields import (
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictInteger,
    Text,
    Timestamp,
    response_field,
)
from ..workspaces.models import ADMIN, GUEST, MEMBER
from ..workspaces.slugs import MAX_LENGTH as SLUG_LENGTH
from .models import NAME_LENGTH

MAX_SCOPES = 50
LONGEST_DAYS, DEFAULT_DAYS = 366, 90
_WORKSPACE = "Slug of the only workspace in which the token is accepted; `null`: all."
_TOKEN = "The token, which is not shown again."
# A token of a workspace is no owner.
TOKEN_MEMBER_TYPE = NamedEnum("TokenMemberType", (ADMIN, MEMBER, GUEST))


class TokenCreate(RequestSchema):
    class Input(TypedDict):
        name: str
        scopes: list[str]
        days: int

    name = Text(min=1, max=NAME_LENGTH, strip=True, required=True, description="Name of the token.")
    scopes = fields.List(
        Text(min=1, max=SCOPE_LENGTH),
        required=True,
        validate=validate.Length(min=1, max=MAX_SCOPES),
        metadata={"description": "Names of the token's scopes, from `GET /scopes`."},
    )
    days = StrictInteger(
        min=1,
        max=LONGEST_DAYS,
        load_default=DEFAULT_DAYS,
        description="Days until the token expires.",
    )


class PersonalTokenCreate(TokenCreate):
    class Input(TokenCreate.Input):
        workspace: str | None

    workspace = Text(
        min=1, max=SLUG_LENGTH, load_default=None, allow_none=True, description=_WORKSPACE
    )


class WorkspaceTokenCreate(TokenCreate):
    class Input(TokenCreate.Input):
        type: str

    type = EnumField(
        TOKEN_MEMBER_TYPE, required=True, description="Role of the token in the workspace."
    )


class TokenRead(Schema):
    id = response_field(fields.Integer, "ID of the token.")
    name = response_field(fields.String, "Name of the token.")
    prefix = response_field(fields.String, "First characters of the token.")
    scopes = response_field(fields.List, "Names of the token's scopes.", fields.String())
    created_at = response_field(Timestamp, "When the token was created.")
    expires_at = response_field(Timestamp, "When the token expires.")
    last_used_at = response_field(
        Timestamp, "When the token was last used, to the hour.", allow_none=True
    )


class PersonalTokenRead(TokenRead):
    workspace = response_field(fields.String, _WORKSPACE, allow_none=True)


class PersonalTokenCreated(PersonalTokenRead):
    token = response_field(fields.String, _TOKEN)


class WorkspaceTokenRead(TokenRead):
    type = response_field(EnumField, "Role of the token in the workspace.", TOKEN_MEMBER_TYPE)


class WorkspaceTokenCreated(WorkspaceTokenRead):
    token = response_field(fields.String, _TOKEN)


class EndedTokens(Schema):
    ended = response_field(fields.Integer, "Number of tokens that were ended.")


class ScopeRead(Schema):
    name = response_field(fields.String, "Name of the scope.")
    description = response_field(fields.String, "What a token with the scope can do.")


BACKUP = {"name": "Nightly backup", "scopes": ["account:read", "profiles:read"]}
SYNC = {"name": "Member sync", "scopes": ["members:read", "members:write"], "type": "admin"}
_SHOWN = {
    "id": 7,
    "prefix": "fdp_0a1B",
    "created_at": "2030-01-01T12:00:00+00:00",
    "expires_at": "2030-04-01T12:00:00+00:00",
    "last_used_at": None,
}
TOKEN = {**_SHOWN, **BACKUP, "workspace": None}
CREATED = {**TOKEN, "token": "fdp_…"}
WORKSPACE_TOKEN = {**_SHOWN, **SYNC, "prefix": "fdw_2c3D"}
WORKSPACE_CREATED = {**WORKSPACE_TOKEN, "token": "fdw_…"}
ENDED = {"ended": 2}
SCOPE = {"name": "account:read", "description": "Read your account"}
