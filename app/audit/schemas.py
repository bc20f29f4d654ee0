"""Schemas of the audit log, with the examples of the OpenAPI document."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validates_schema
from sqlalchemy import ColumnElement

from ..core.audit_log.models import TARGET_LENGTH, TYPE_LENGTH
from ..core.coded_messages import not_together
from ..core.types import AccountKey
from ..core.web.fields import (
    AccountId,
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictInteger,
    Text,
    Timestamp,
    page_end,
    page_limit,
    page_start,
    response_field,
)

ACTOR_KIND = NamedEnum(
    "ActorKind", ("account", "anonymous", "cli", "provider", "system", "token"), is_open=True
)
CURSOR_LENGTH = 40
# Actions by name, each with alternative conditions for the data; without them, all entries match.
Kinds = Mapping[str, Sequence[ColumnElement[bool]]]


class EntryPage(RequestSchema):
    """A page of entries, the newest first."""

    class Input(TypedDict):
        limit: int
        after: NotRequired[str]
        before: NotRequired[str]

    limit = page_limit()
    after = page_start(CURSOR_LENGTH)
    before = page_end(CURSOR_LENGTH)

    @validates_schema(skip_on_field_errors=True)
    def reject_second_position(self, data: Input, **kwargs: object) -> None:
        if "before" in data and "after" in data:
            raise ValidationError(not_together("after"), "before")


class EntryFilter(RequestSchema):
    class Input(TypedDict):
        type: str | None
        actor: AccountKey | None
        account: AccountKey | None
        workspace: int | None
        target: str | None
        since: datetime | None
        until: datetime | None
        # The console's choices, in place of `type`.
        kinds: NotRequired[Kinds]

    type = Text(
        min=1,
        max=TYPE_LENGTH,
        load_default=None,
        description="Only entries with this action, such as `login.failed`.",
    )
    actor = AccountId(
        received=True,
        load_default=None,
        description="Only entries of actions that this account performed.",
    )
    account = AccountId(
        received=True, load_default=None, description="Only entries about this account."
    )
    workspace = StrictInteger(
        load_default=None, description="Only entries about the workspace with this ID."
    )
    target = Text(
        min=3,
        max=TYPE_LENGTH + TARGET_LENGTH + 1,
        load_default=None,
        pattern="^[^:]+:.+$",
        description="Only entries about this object, by type and ID, such as `invitation:17`.",
    )
    since = Timestamp(load_default=None, description="Only entries at or after this time.")
    until = Timestamp(load_default=None, description="Only entries before this time.")


class EntryQuery(EntryPage, EntryFilter):
    class Input(EntryPage.Input, EntryFilter.Input):
        pass


class WorkspaceRecordRead(Schema):
    """An entry for managers of a workspace, without the client's data."""

    id = response_field(fields.Integer, "ID of the audit log entry.")
    type = response_field(fields.String, "Name of the action, such as `member.updated`.")
    at = response_field(Timestamp, "When the action happened.")
    actor_kind = response_field(
        EnumField,
        "Type of the actor. `token`: a token of the workspace, with its `id` and `name` in `token`"
        " of `data`. `provider`: an identity provider, with its name in `provider` of `data`.",
        ACTOR_KIND,
    )
    actor_id = response_field(
        AccountId, "ID of the account that performed the action.", allow_none=True
    )
    account_id = response_field(
        AccountId, "ID of the account that the action affects.", allow_none=True
    )
    workspace_id = response_field(fields.Integer, "ID of the workspace.", allow_none=True)
    target_kind = response_field(
        fields.String, "Type of the affected object, such as `invitation`.", allow_none=True
    )
    target_id = response_field(fields.String, "ID of the affected object.", allow_none=True)
    data: Any = response_field(
        fields.Dict,
        "Details of the action, such as the values before and after a change.",
        keys=fields.String(),
    )


class RecordRead(WorkspaceRecordRead):
    address = response_field(fields.String, "IP address of the request.", allow_none=True)
    user_agent = response_field(
        fields.String, "`User-Agent` header of the client.", allow_none=True
    )
    request_id = response_field(fields.String, "`X-Request-ID` of the request.", allow_none=True)


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
