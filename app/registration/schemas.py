"""Schemas of requests and responses, errors, and the examples of the OpenAPI document."""

from typing import TypedDict

from marshmallow import Schema

from ..auth.examples import EMAIL, TOKEN
from ..auth.schemas import NewPassword
from ..core.context import current_frontdesk
from ..core.errors import Forbidden
from ..core.web.fields import RequestSchema, Text
from ..workspaces.invitations.schemas import TOKEN_LENGTH


class RegistrationCreate(RequestSchema):
    """The body of a registration. Subclass it to add fields, which are stored in the columns of the
    account with the same names."""

    class Input(TypedDict):
        email: str
        password: str | None
        invitation: str | None

    email = Text(min=1, max=320, required=True, description="Email address of the new account.")
    password = NewPassword(description="Password of the new account.")
    invitation = Text(
        min=1,
        max=TOKEN_LENGTH,
        load_default=None,
        description="Secret from an invitation email, which verifies the email address.",
    )


class VerificationMail(RequestSchema):
    class Input(TypedDict):
        email: str

    email = Text(min=1, blank=True, max=320, required=True, description="Email address to verify.")


def registration_create() -> type[Schema]:
    return current_frontdesk.schemas.get("registration", RegistrationCreate)


class RegistrationClosed(Forbidden):
    code = "registration_closed"
    detail = "Registration is closed"
    title = "Registration is closed"
    cause = (
        "`AUTH__REGISTRATION` does not allow this registration: registration is closed, or it"
        " requires an invitation."
    )
    fix = "Ask for an invitation, or ask an administrator for an account."
    security_event = "account_creation"


class RegistrationRefused(Forbidden):
    """Returned only without email verification; otherwise the refusal is emailed."""

    code = "registration_refused"
    detail = "This address cannot be registered here"
    title = "The email address cannot be registered"
    cause = (
        "The email address is in use, or its domain or a hook of the application does not allow it."
    )
    fix = "Use another email address, or sign in to the existing account."
    security_event = "account_creation"


REGISTRATION = {"email": EMAIL, "password": "correct horse"}
REGISTERED = {"message": "Check your email to finish registering"}
PROOF = TOKEN
PROVEN = {"message": "Email verified"}
ADDRESS = {"email": EMAIL}
MAILED = {"message": "If this email address is unverified, we sent an email"}
