"""The Frontdesk extension of the pinboard, and the fields of its accounts."""

from __future__ import annotations

import flask_frontdesk
from marshmallow import fields, validate

from .models import Account

# [frontdesk]
frontdesk = flask_frontdesk.Frontdesk[Account]()
frontdesk.use_workspaces()
# [end]


class SignUp(flask_frontdesk.RegistrationCreate):
    name = fields.String(load_default="", validate=validate.Length(max=100))


class NamedAccount(flask_frontdesk.AccountRead):
    name = fields.String(required=True)
