"""The library's own views, guarded by Frontdesk."""

from __future__ import annotations

from typing import Any

from flask import Blueprint
from flask_frontdesk import (
    account_optional,
    active_account_required,
    answers,
    current_account,
    current_workspace,
    roles_required,
    superuser_required,
    takes,
    workspace_anonymous,
)
from marshmallow import Schema, fields

from .decisions import frontdesk
from .models import Visit, db

views = Blueprint("library", __name__)


# [guards]
@views.get("/")
@account_optional
def entrance() -> dict[str, Any]:
    return {"welcome": current_account.nickname if current_account else "stranger"}


@views.get("/visits")
@active_account_required
def visits() -> list[str]:
    """The caller's visits"""
    return [visit.note for visit in current_account.visits]


@views.get("/stacks")
@active_account_required
@roles_required("admin", "root")
def stacks() -> dict[str, str]:
    return {"stacks": "open"}


# [end]


# [register]
class Registration(Schema):
    email = fields.Email(required=True)
    password = fields.String(required=True, validate=lambda text: len(text) <= 72)
    nickname = fields.String(load_default=None)


class Registered(Schema):
    card = fields.String(required=True)


@views.post("/readers")
@takes(json=Registration)
@answers(201, Registered)
def register(json: dict[str, Any]) -> dict[str, Any]:
    """Become a reader"""
    with frontdesk.transaction():
        account = frontdesk.accounts.create(status="reader", **json)
        db.session.add(Visit(account_id=account.id, note="became a reader"))
        return {"card": account.card}


# [end]


# [notify]
@views.post("/overdue")
@superuser_required
def remind() -> dict[str, Any]:
    with frontdesk.transaction():
        frontdesk.notify(
            "A book is overdue",
            "Bring it back, please.",
            channels=["inapp", "email", "sms"],
            receivers=[visit.account_id for visit in db.session.query(Visit)],
        )
    return {"reminded": True}


# [end]


# [branch]
@views.get("/branches/<branch>/hours")
@workspace_anonymous
def hours(branch: str) -> dict[str, str]:
    return {"branch": current_workspace.name, "hours": "9 to 5"}


# [end]
