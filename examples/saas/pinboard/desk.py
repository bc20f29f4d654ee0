"""The Frontdesk extension of the pinboard, and its sign-up view."""

from __future__ import annotations

from typing import Any

import flask_frontdesk
from flask import Blueprint
from flask_frontdesk import AccountRead, answers, anyone, takes
from marshmallow import Schema, fields, validate

from .models import Account

# [frontdesk]
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.use_workspaces()
# [end]


# [sign-up]
class SignUp(Schema):
    email = fields.Email(required=True)
    password = fields.String(required=True, validate=validate.Length(min=8, max=72))
    name = fields.String(required=True, validate=validate.Length(min=1, max=100))


class NamedAccount(AccountRead):
    name = fields.String(required=True)


sign_up = Blueprint("sign_up", __name__)


@sign_up.post("/sign-up")
@anyone
@takes(json=SignUp)
@answers(201, NamedAccount)
def become_an_account(json: dict[str, Any]) -> Account:
    """Sign up"""
    return frontdesk.accounts.create(**json)


# [end]
