"""What clients send and get of the audit log, with the examples of the OpenAPI document."""

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
LONGEST_PLACE = 40


class RecordPage(RequestSchema):
    """One page of records, the newest first."""

    limit = StrictInteger(
        load_default=100, min=1, max=500, metadata={"description": "How many to return at most"}
    )
    after = Text(
        min=1,
        max=LONGEST_PLACE,
        load_default=None,
        metadata={"description": "Where the page before has ended, as its `Link` has it"},
    )


class RecordFilter(RequestSchema):
    type = Text(
        min=1,
        max=TYPE_LENGTH,
        load_default=None,
        metadata={"description": "The name of an action, such as `login.failed`"},
    )
    actor = AccountId(
        received=True, load_default=None, metadata={"description": "The account that acts"}
    )
    account = AccountId(
        received=True, load_default=None, metadata={"description": "The account it is about"}
    )
    workspace = StrictInteger(load_default=None, metadata={"description": "The id of a workspace"})
    target = Text(
        min=3,
        max=TYPE_LENGTH + TARGET_LENGTH + 1,
        load_default=None,
        pattern="^[^:]+:.+$",
        metadata={"description": "Its kind and id, such as `invitation:17`"},
    )
    since = Timestamp(load_default=None, metadata={"description": "Not before this moment"})
    until = Timestamp(load_default=None, metadata={"description": "Before this moment"})


class RecordQuery(RecordPage, RecordFilter):
    pass


class WorkspaceRecordRead(Schema):
    """What a workspace's managers see: not from where their members act."""

    id = fields.Integer(required=True)
    type = fields.String(required=True, metadata={"description": "What was done"})
    at = Timestamp(required=True)
    actor_kind = EnumField(ACTOR_KIND, required=True)
    actor_id = AccountId(
        required=True, allow_none=True, metadata={"description": "The account that acts"}
    )
    account_id = AccountId(
        required=True, allow_none=True, metadata={"description": "The account it is about"}
    )
    workspace_id = fields.Integer(required=True, allow_none=True)
    target_kind = fields.String(required=True, allow_none=True)
    target_id = fields.String(required=True, allow_none=True)
    data: Any = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "What changed, by its type"}
    )


class RecordRead(WorkspaceRecordRead):
    address = fields.String(
        required=True, allow_none=True, metadata={"description": "Where the request came from"}
    )
    user_agent = fields.String(required=True, allow_none=True)
    request_id = fields.String(required=True, allow_none=True)


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
