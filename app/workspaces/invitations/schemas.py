"""Schemas and errors of invitations."""

from typing import NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from ...auth.errors import Unverified
from ...core.coded_messages import exactly_one
from ...core.errors import Conflict, Forbidden, NotFound, TooManyRequests
from ...core.web.fields import (
    EnumField,
    NamedEnum,
    Page,
    RequestSchema,
    Text,
    Timestamp,
    response_field,
)
from ..schemas import MEMBER_TYPE
from .models import MESSAGE_LENGTH, STATES

MAX_AT_ONCE = 50
TOKEN_LENGTH = 2048
INVITATION_STATE = NamedEnum("InvitationState", STATES)


class InvitationCreate(RequestSchema):
    class Input(TypedDict):
        email: NotRequired[str]
        emails: NotRequired[list[str]]
        type: str
        message: str | None

    email = Text(min=1, max=320, description="Email address to invite.")
    emails = fields.List(
        Text(min=1, max=320),
        validate=validate.Length(min=1, max=MAX_AT_ONCE),
        metadata={"description": "Email addresses to invite, instead of `email`."},
    )
    type = EnumField(
        MEMBER_TYPE, load_default="member", description="Role that the invited account gets."
    )
    message = Text(
        max=MESSAGE_LENGTH,
        load_default=None,
        strip=True,
        description="Personal message in the invitation email.",
    )

    @validates_schema(skip_on_field_errors=True)
    def require_one_of_both(self, data: Input, **kwargs: object) -> None:
        given = [name for name in ("email", "emails") if name in data]
        if fault := exactly_one("Send either email or emails.", given):
            raise ValidationError(fault, "email")


class InvitationPage(Page):
    class Input(Page.Input):
        state: str | None

    state = EnumField(
        INVITATION_STATE, load_default=None, description="Only invitations in this state."
    )


class InvitationSecret(RequestSchema):
    class Input(TypedDict):
        token: str

    token = Text(
        min=1, max=TOKEN_LENGTH, required=True, description="Secret from the invitation email."
    )


class InvitationRead(Schema):
    """An invitation for the workspace's owners and admins."""

    id = response_field(fields.Integer, "ID of the invitation.", attribute="invitation.id")
    workspace_id = response_field(
        fields.Integer, "ID of the workspace.", attribute="invitation.workspace_id"
    )
    email = response_field(fields.String, "Invited email address.", attribute="invitation.email")
    type = response_field(
        EnumField, "Role that the invited account gets.", MEMBER_TYPE, attribute="invitation.type"
    )
    state = response_field(EnumField, "State of the invitation.", INVITATION_STATE)
    message = response_field(
        fields.String,
        "Personal message in the invitation email.",
        allow_none=True,
        attribute="invitation.message",
    )
    inviter = response_field(
        fields.String,
        "Email address of the inviting account; `null` if the account is deleted.",
        allow_none=True,
    )
    sends = response_field(
        fields.Integer, "Number of invitation emails sent.", attribute="invitation.sends"
    )
    sent_at = response_field(
        Timestamp,
        "When the last invitation email was sent.",
        allow_none=True,
        attribute="invitation.sent_at",
    )
    expires_at = response_field(
        Timestamp, "When the invitation expires.", attribute="invitation.expires_at"
    )
    created_at = response_field(
        Timestamp, "When the invitation was created.", attribute="invitation.created_at"
    )


class InvitingWorkspace(Schema):
    slug = response_field(fields.String, "Slug of the workspace.")
    name = response_field(fields.String, "Name of the workspace.")


class ReceivedInvitationRead(Schema):
    """An invitation in the list of the invited account."""

    id = response_field(fields.Integer, "ID of the invitation.", attribute="invitation.id")
    workspace = response_field(fields.Nested, "Workspace of the invitation.", InvitingWorkspace)
    inviter = response_field(
        fields.String,
        "Email address of the inviting account; `null` if the account is deleted.",
        allow_none=True,
    )
    type = response_field(
        EnumField,
        "Role that the account gets in the workspace.",
        MEMBER_TYPE,
        attribute="invitation.type",
    )
    message = response_field(
        fields.String,
        "Personal message of the inviting account.",
        allow_none=True,
        attribute="invitation.message",
    )
    expires_at = response_field(
        Timestamp, "When the invitation expires.", attribute="invitation.expires_at"
    )
    created_at = response_field(
        Timestamp, "When the invitation was created.", attribute="invitation.created_at"
    )


class MailedInvitationRead(ReceivedInvitationRead):
    """An invitation as the holder of the emailed secret sees it."""

    email_hint = response_field(
        fields.Function,
        "Start and domain of the invited email address.",
        lambda invited: _hint(invited.invitation.email),
        metadata={"type": "string", "example": "g…@example.com"},
    )
    account_exists = response_field(
        fields.Boolean, "Whether the invited email address has an account."
    )


def _hint(email: str) -> str:
    return f"{email[:1]}…@{email.rpartition('@')[2]}"


class InvitationNotFound(NotFound):
    code = "invitation_not_found"
    detail = "Invitation not found"
    title = "The invitation does not exist"
    cause = "No invitation has this id or token, or the invitation was sent to another account."
    fix = "List the invitations with `GET /invitations`."


class InvitationClosed(Conflict):
    code = "invitation_closed"
    detail = "This invitation is no longer open"
    title = "The invitation is no longer open"
    cause = "The invitation was accepted, declined or withdrawn, or has expired."
    fix = "Ask for a new invitation."


class InviterGone(Conflict):
    """The inviter is no longer a member who may invite this type."""

    code = "inviter_gone"
    detail = "The inviter can no longer invite you"
    title = "The inviter can no longer invite you"
    cause = (
        "The member who sent the invitation left the workspace, or no longer has the role to"
        " invite."
    )
    fix = "Ask an owner or admin of the workspace for a new invitation."


class OtherAddress(Forbidden):
    code = "other_address"
    detail = "This invitation was sent to another address"
    title = "The invitation was sent to another email address"
    cause = "The email address of the account is not the one the invitation was sent to."
    fix = "Sign in with the account of that email address, or ask for a new invitation."


class AddressNotVerified(Unverified, Forbidden):
    detail = "Verify your email address first"
    cause = "An invitation can be accepted only by an account with a verified email address."
    fix = "Verify the email address of the account, then accept the invitation."

    def __init__(self) -> None:
        super().__init__(members={"former_code": "address_not_proven"})


class TooManyInvitations(TooManyRequests):
    code = "too_many_invitations"
    detail = "Too many invitations"
    title = "Too many invitations"
    cause = (
        "The account sent more invitations in an hour than `WORKSPACES__INVITATIONS_PER_HOUR`"
        " allows."
    )
    fix = "Wait for the number of seconds in `Retry-After`."
