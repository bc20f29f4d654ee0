"""The library's views, with Frontdesk's decorators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint
from flask_frontdesk import (
    Page,
    account_optional,
    active_account_required,
    answers,
    current_workspace,
    roles_required,
    superuser_required,
    takes,
    workspace_anonymous,
)
from marshmallow import Schema, fields
from sqlalchemy import select

from .decisions import frontdesk
from .models import Visit, db

views = Blueprint("library", __name__)


# [guards]
@views.get("/")
@account_optional
def entrance() -> dict[str, Any]:
    account = frontdesk.current_account_or_none
    return {"welcome": account.nickname if account else "guest"}


@views.get("/visits")
@active_account_required
def visits() -> list[str]:
    """List the caller's visits"""
    return [visit.note for visit in frontdesk.current_account.visits]


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
    """Register as a reader"""
    with frontdesk.transaction():
        account = frontdesk.accounts.create(status="reader", **json)
        db.session.add(Visit(account_id=account.id, note="became a reader"))
        return {"card": account.card}


# [end]


# [list]
class VisitRead(Schema):
    account_id = fields.Integer(required=True)
    note = fields.String(required=True)


@views.get("/visits/all")
@active_account_required
@roles_required("admin", "root")
@takes(query=Page)
@answers(200, VisitRead, paged=True)
def all_visits(query: dict[str, Any]) -> Sequence[Visit]:
    """List all visits"""
    newest_first = select(Visit).order_by(Visit.id.desc())
    page = newest_first.offset(query["offset"]).limit(query["limit"])
    return db.session.scalars(page).all()


# [end]


# [notify]
OVERDUE = frontdesk.notification_kind(
    "overdue-books", name="Overdue books", channels=["inapp", "email", "sms"]
)


@views.post("/overdue")
@superuser_required
def remind() -> dict[str, Any]:
    with frontdesk.transaction():
        frontdesk.notify(
            "A book is overdue",
            "Bring it back, please.",
            kind=OVERDUE,
            url="/visits",
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
