"""Schemas that take the place of Frontdesk's."""

from __future__ import annotations

import flask_frontdesk
from marshmallow import INCLUDE, Schema, fields, validate


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


# [registration]
class Signup(flask_frontdesk.RegistrationCreate):
    """What it reads beside the address and the password goes into the account's columns."""

    nickname = fields.String(required=True, validate=validate.Length(min=2, max=50))


# [end]


# [profiles]
NOT_ASKED = ("date_of_birth", "gender", "marital_status")


class ReaderCreate(flask_frontdesk.ProfileCreate):
    """A profile as a library asks for it: ours without three properties, and one of its own."""

    class Meta:
        exclude = NOT_ASKED
        unknown = INCLUDE  # a reader's own properties are kept

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
    """What `auth_data` of the identity provider's callback must hold."""

    branch = fields.String(required=True, validate=validate.Length(max=50))


# [end]
