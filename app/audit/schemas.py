"""Schemas of the audit log, with the examples of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from ..core.audit_log.models import TARGET_LENGTH, TYPE_LENGTH
from ..core.web.fields import (
    AccountId,
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictInteger,
    Text,
    Timestamp,
)

ACTOR_KIND = NamedEnum("ActorKind", ("account", "anonymous", "cli", "system"), is_open=True)
CURSOR_LENGTH = 40


class RecordPage(RequestSchema):
    """A page of entries, the newest first."""

    limit = StrictInteger(
        load_default=100,
        min=1,
        max=500,
        metadata={"description": "Maximum number of items to return."},
    )
    after = Text(
        min=1,
        max=CURSOR_LENGTH,
        load_default=None,
        metadata={
            "description": "Position after which the page starts, from the `Link` header of the"
            " previous page."
        },
    )


class RecordFilter(RequestSchema):
    type = Text(
        min=1,
        max=TYPE_LENGTH,
        load_default=None,
        metadata={"description": "Only entries with this action, such as `login.failed`."},
    )
    actor = AccountId(
        received=True,
        load_default=None,
        metadata={"description": "Only entries of actions that this account performed."},
    )
    account = AccountId(
        received=True,
        load_default=None,
        metadata={"description": "Only entries about this account."},
    )
    workspace = StrictInteger(
        load_default=None,
        metadata={"description": "Only entries about the workspace with this ID."},
    )
    target = Text(
        min=3,
        max=TYPE_LENGTH + TARGET_LENGTH + 1,
        load_default=None,
        pattern="^[^:]+:.+$",
        metadata={
            "description": "Only entries about this object, by type and ID, such as"
            " `invitation:17`."
        },
    )
    since = Timestamp(
        load_default=None, metadata={"description": "Only entries at or after this time."}
    )
    until = Timestamp(load_default=None, metadata={"description": "Only entries before this time."})


class RecordQuery(RecordPage, RecordFilter):
    pass


class WorkspaceRecordRead(Schema):
    """An entry for managers of a workspace, without the client's data."""

    id = fields.Integer(required=True, metadata={"description": "ID of the audit log entry."})
    type = fields.String(
        required=True, metadata={"description": "Name of the action, such as `member.updated`."}
    )
    at = Timestamp(required=True, metadata={"description": "When the action happened."})
    actor_kind = EnumField(
        ACTOR_KIND, required=True, metadata={"description": "Type of the actor."}
    )
    actor_id = AccountId(
        required=True,
        allow_none=True,
        metadata={"description": "ID of the account that performed the action."},
    )
    account_id = AccountId(
        required=True,
        allow_none=True,
        metadata={"description": "ID of the account that the action affects."},
    )
    workspace_id = fields.Integer(
        required=True, allow_none=True, metadata={"description": "ID of the workspace."}
    )
    target_kind = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Type of the affected object, such as `invitation`."},
    )
    target_id = fields.String(
        required=True, allow_none=True, metadata={"description": "ID of the affected object."}
    )
    data: Any = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={
            "description": "Details of the action, such as the values before and after a change."
        },
    )


class RecordRead(WorkspaceRecordRead):
    address = fields.String(
        required=True, allow_none=True, metadata={"description": "IP address of the request."}
    )
    user_agent = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "`User-Agent` header of the client."},
    )
    request_id = fields.String(
        required=True, allow_none=True, metadata={"description": "`X-Request-ID` of the request."}
    )


OF_A_WORKSPACE = {
    "id": 41,
    "type": "member.updated",
    "at": "2030-01-01T12:00:00.250000+00:00",
    "actor_kind": "account",
    "actor_id": 1,
    "account_id": 2,
    "workspace_id": 3,
    "target_kind": None,
    "target_id": None,
    "data": {
        "before": {"type": "member", "status": "active"},
        "after": {"type": "admin", "status": "active"},
    },
}
OF_ANYBODY = {
    **OF_A_WORKSPACE,
    "address": "203.0.113.9",
    "user_agent": "Mozilla/5.0",
    "request_id": "0dbf1297198c-b5f-208",
}
OF_ONESELF = {
    **OF_ANYBODY,
    "id": 42,
    "type": "login.failed",
    "actor_kind": "anonymous",
    "actor_id": None,
    "account_id": 1,
    "workspace_id": None,
    "data": {"reason": "incorrect_credentials", "method": "POST", "route": "/api/v1/login"},
}
