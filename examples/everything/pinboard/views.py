"""The pinboard's views, with Frontdesk's decorators."""

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

from .hooks import frontdesk
from .models import Account, Activity, db

views = Blueprint("pinboard", __name__)


# [decorators]
@views.get("/")
@account_optional
def home() -> dict[str, Any]:
    account = frontdesk.current_account_or_none
    return {"welcome": account.name if account else "guest"}


@views.get("/activities")
@active_account_required
def activities() -> list[str]:
    """List the caller's activities"""
    return [activity.text for activity in frontdesk.current_account.activities]


@views.get("/statistics")
@active_account_required
@roles_required("admin", "root")
def statistics() -> dict[str, int]:
    return {"activities": db.session.query(Activity).count()}


# [end]


# [register]
class Registration(Schema):
    email = fields.Email(required=True)
    password = fields.String(required=True, validate=lambda text: len(text) <= 72)
    name = fields.String(load_default=None)


class Registered(Schema):
    handle = fields.String(required=True)


@views.post("/members")
@takes(json=Registration)
@answers(201, Registered)
def register(json: dict[str, Any]) -> dict[str, Any]:
    """Register with a trial"""
    with frontdesk.transaction():
        account = frontdesk.accounts.create(status="trial", **json)
        db.session.add(Activity(account_id=account.id, text="started a trial"))
        return {"handle": account.handle}


# [end]


# [list]
class ActivityRead(Schema):
    account_id = fields.Integer(required=True)
    text = fields.String(required=True)


@views.get("/activities/all")
@active_account_required
@roles_required("admin", "root")
@takes(query=Page)
@answers(200, ActivityRead, paged=True)
def all_activities(query: dict[str, Any]) -> Sequence[Activity]:
    """List all activities"""
    newest_first = select(Activity).order_by(Activity.id.desc())
    page = newest_first.offset(query["offset"]).limit(query["limit"])
    return db.session.scalars(page).all()


# [end]


# [notify]
REMINDERS = frontdesk.notification_kind(
    "reminders", name="Reminders", channels=["inapp", "email", "sms"]
)


@views.post("/reminders")
@superuser_required
def remind() -> dict[str, Any]:
    with frontdesk.transaction():
        on_trial = select(Account.id).where(Account.status == "trial")
        frontdesk.notify(
            "Your trial ends soon",
            "Choose a plan to keep your notes.",
            kind=REMINDERS,
            url="/activities",
            receivers=db.session.scalars(on_trial).all(),
        )
    return {"reminded": True}


# [end]


# [team]
@views.get("/teams/<team>/welcome")
@workspace_anonymous
def welcome(team: str) -> dict[str, str]:
    return {"welcome": f"The notes of {current_workspace.name}"}


# [end]
