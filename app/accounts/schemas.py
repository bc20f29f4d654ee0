from __future__ import annotations

from marshmallow import Schema, fields

from ..core.web.fields import AccountId, Moment
from ..core.web.words import Word, WordSet
from .models import PENDING, ROLES, STATUSES

ROLE = WordSet("AccountRole", ROLES)
STATUS = WordSet(
    "AccountStatus",
    (*STATUSES, PENDING),
    is_open=True,
    description="A host may have others beside these",
)


class AccountRead(Schema):
    id = AccountId(required=True)
    email = fields.String(required=True)
    status = Word(STATUS, required=True)
    role = Word(ROLE, required=True)
    phone = fields.String(required=True, allow_none=True)
    last_login_date = Moment(required=True, allow_none=True)
    current_workspace_id = fields.Integer(required=True, allow_none=True)
    created_at = Moment(required=True)
