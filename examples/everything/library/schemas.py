"""Schemas that take the place of Frontdesk's."""

from __future__ import annotations

import flask_frontdesk
from marshmallow import Schema, fields, validate


# [account]
class AccountCard(Schema):
    """How an account is shown: in the login response, and at GET /account."""

    email = fields.String(required=True)
    card = fields.String(required=True, allow_none=True)
    nickname = fields.String(required=True, allow_none=True)


# [end]


# [login]
class Desk(flask_frontdesk.LoginRead):
    """The login response. What the payload hook adds appears only if it is declared here."""

    greeting = fields.String(required=True)


# [end]


# [tasks]
class LoanCreate(Schema):
    title = fields.String(required=True, validate=validate.Length(min=3, max=200))
    priority = fields.String(validate=validate.OneOf(["normal", "urgent"]), load_default="normal")


class LoanUpdate(Schema):
    done = fields.Boolean()


# [end]


# [callback]
class CallbackData(Schema):
    """What `auth_data` of the identity provider's callback must hold."""

    branch = fields.String(required=True, validate=validate.Length(max=50))


# [end]
