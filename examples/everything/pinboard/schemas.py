"""Schemas that replace Frontdesk's."""

from __future__ import annotations

import flask_frontdesk
from marshmallow import INCLUDE, Schema, fields, validate


# [account]
class AccountSummary(Schema):
    """An account in the login response and at GET /account."""

    email = fields.String(required=True)
    handle = fields.String(required=True, allow_none=True)
    name = fields.String(required=True, allow_none=True)


# [end]


# [login]
class LoginWithGreeting(flask_frontdesk.LoginRead):
    """The login response. Members that the payload hook adds must be declared here."""

    greeting = fields.String(required=True)


# [end]


# [registration]
class SignUp(flask_frontdesk.RegistrationCreate):
    """Fields other than the email address and the password become columns of the account."""

    name = fields.String(required=True, validate=validate.Length(min=2, max=50))


# [end]


# [profiles]
EXCLUDED = ("date_of_birth", "gender", "marital_status")


class MemberProfileCreate(flask_frontdesk.ProfileCreate):
    """Frontdesk's profile without three properties, and with one more."""

    class Meta:
        exclude = EXCLUDED
        unknown = INCLUDE  # keep additional properties

    department = fields.String(required=True, validate=validate.Length(max=50))


class MemberProfileRead(flask_frontdesk.ProfileRead):
    class Meta:
        exclude = EXCLUDED
        unknown = INCLUDE


# [end]


# [tasks]
class TodoCreate(Schema):
    title = fields.String(required=True, validate=validate.Length(min=3, max=200))
    priority = fields.String(validate=validate.OneOf(["normal", "urgent"]), load_default="normal")


class TodoUpdate(Schema):
    done = fields.Boolean()


# [end]


# [callback]
class CallbackData(Schema):
    """The required members of `auth_data` in the identity provider's callback."""

    team = fields.String(required=True, validate=validate.Length(max=50))


# [end]
