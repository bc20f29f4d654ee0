"""Schemas that replace Frontdesk's."""

from __future__ import annotations

import flask_frontdesk
from marshmallow import INCLUDE, Schema, fields, validate


# [account]
class AccountCard(Schema):
    """An account in the login response and at GET /account."""

    email = fields.String(required=True)
    card = fields.String(required=True, allow_none=True)
    nickname = fields.String(required=True, allow_none=True)


# [end]


# [login]
class Desk(flask_frontdesk.LoginRead):
    """The login response. Members that the payload hook adds must be declared here."""

    greeting = fields.String(required=True)


# [end]


# [registration]
class Signup(flask_frontdesk.RegistrationCreate):
    """Fields other than the email address and the password become columns of the account."""

    nickname = fields.String(required=True, validate=validate.Length(min=2, max=50))


# [end]


# [profiles]
NOT_ASKED = ("date_of_birth", "gender", "marital_status")


class ReaderCreate(flask_frontdesk.ProfileCreate):
    """Frontdesk's profile without three properties, and with one more."""

    class Meta:
        exclude = NOT_ASKED
        unknown = INCLUDE  # keep additional properties

    shelf = fields.String(required=True, validate=validate.Length(max=50))


class ReaderRead(flask_frontdesk.ProfileRead):
    class Meta:
        exclude = NOT_ASKED
        unknown = INCLUDE


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
    """The required members of `auth_data` in the identity provider's callback."""

    branch = fields.String(required=True, validate=validate.Length(max=50))


# [end]
