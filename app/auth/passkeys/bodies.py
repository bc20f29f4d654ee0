"""What the routes of this room take, around the credentials themselves."""

from __future__ import annotations

from marshmallow import fields

from ...core.web.fields import Received, Text
from ..mfa.models import NAME_LENGTH
from ..mfa.schemas import MfaTokenField
from .schemas import AssertedCredential, CreatedCredential

_ENROLLING = {"description": "In the place of an access token, where a factor must be set up first"}
_ANSWERING = {"description": "Where a passkey is to be the second factor of a sign-in"}


class PasskeyBegin(Received):
    class Meta(Received.Meta):
        # Who is signed in has nothing to say.
        may_be_missing = True

    mfa_token = MfaTokenField(load_default=None, metadata=_ENROLLING)


class NewPasskey(Received):
    name = Text(min=1, max=NAME_LENGTH, strip=True, required=True)
    credential = fields.Nested(CreatedCredential, required=True)
    mfa_token = MfaTokenField(load_default=None, metadata=_ENROLLING)


class PasskeyLoginBegin(Received):
    class Meta(Received.Meta):
        may_be_missing = True

    mfa_token = MfaTokenField(load_default=None, metadata=_ANSWERING)


class ShownPasskey(Received):
    credential = fields.Nested(AssertedCredential, required=True)
