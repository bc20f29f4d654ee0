"""Schemas and errors of invitations."""

from __future__ import annotations

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from ...core.errors import Conflict, Forbidden, NotFound, TooManyRequests
from ...core.types import JsonObject, Loaded
from ...core.web.fields import EnumField, NamedEnum, Page, RequestSchema, Text, Timestamp
from ..schemas import MEMBER_TYPE
from .models import MESSAGE_LENGTH, STATES

MAX_AT_ONCE = 50
TOKEN_LENGTH = 2048
INVITATION_STATE = NamedEnum("InvitationState", STATES)


class InvitationCreate(RequestSchema):
    email = Text(min=1, max=320, metadata={"description": "Email address to invite."})
    emails = fields.List(
        Text(min=1, max=320),
        validate=validate.Length(min=1, max=MAX_AT_ONCE),
        metadata={"description": "Email addresses to invite, instead of `email`."},
    )
    type = EnumField(
        MEMBER_TYPE,
        load_default="member",
        metadata={"description": "Role that the invited account gets."},
    )
    message = Text(
        max=MESSAGE_LENGTH,
        load_default=None,
        strip=True,
        metadata={"description": "Personal message in the invitation email."},
    )

    @validates_schema(skip_on_field_errors=True)
    def require_one_of_both(self, data: Loaded, **kwargs: object) -> None:
        if ("email" in data) is ("emails" in data):
            raise ValidationError("Send either email or emails.", "email")

    @post_load
    def key_by_field(self, data: Loaded, **kwargs: object) -> JsonObject:
        """Report each invalid address with its position."""
        many = data.pop("emails", [])
        addresses = {f"emails.{index}": email for index, email in enumerate(many)}
        if "email" in data:
            addresses = {"email": data["email"]}
        return {**data, "email": addresses}


class InvitationPage(Page):
    state = EnumField(
        INVITATION_STATE,
        load_default=None,
        metadata={"description": "Only invitations in this state."},
    )


class InvitationSecret(RequestSchema):
    token = Text(
        min=1,
        max=TOKEN_LENGTH,
        required=True,
        metadata={"description": "Secret from the invitation email."},
    )


class InvitationRead(Schema):
    """An invitation for the workspace's owners and admins."""

    id = fields.Integer(
        required=True, attribute="invitation.id", metadata={"description": "ID of the invitation."}
    )
    workspace_id = fields.Integer(
        required=True,
        attribute="invitation.workspace_id",
        metadata={"description": "ID of the workspace."},
    )
    email = fields.String(
        required=True,
        attribute="invitation.email",
        metadata={"description": "Invited email address."},
    )
    type = EnumField(
        MEMBER_TYPE,
        required=True,
        attribute="invitation.type",
        metadata={"description": "Role that the invited account gets."},
    )
    state = EnumField(
        INVITATION_STATE, required=True, metadata={"description": "State of the invitation."}
    )
    message = fields.String(
        required=True,
        allow_none=True,
        attribute="invitation.message",
        metadata={"description": "Personal message in the invitation email."},
    )
    inviter = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Email address of the inviting account; `null` if the account is"
            " deleted."
        },
    )
    sends = fields.Integer(
        required=True,
        attribute="invitation.sends",
        metadata={"description": "Number of invitation emails sent."},
    )
    sent_at = Timestamp(
        required=True,
        allow_none=True,
        attribute="invitation.sent_at",
        metadata={"description": "When the last invitation email was sent."},
    )
    expires_at = Timestamp(
        required=True,
        attribute="invitation.expires_at",
        metadata={"description": "When the invitation expires."},
    )
    created_at = Timestamp(
        required=True,
        attribute="invitation.created_at",
        metadata={"description": "When the invitation was created."},
    )


class InvitingWorkspace(Schema):
    slug = fields.String(required=True, metadata={"description": "Slug of the workspace."})
    name = fields.String(required=True, metadata={"description": "Name of the workspace."})


class ReceivedInvitationRead(Schema):
    """An invitation in the list of the invited account."""

    id = fields.Integer(
        required=True, attribute="invitation.id", metadata={"description": "ID of the invitation."}
    )
    workspace = fields.Nested(
        InvitingWorkspace, required=True, metadata={"description": "Workspace of the invitation."}
    )
    inviter = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Email address of the inviting account; `null` if the account is"
            " deleted."
        },
    )
    type = EnumField(
        MEMBER_TYPE,
        required=True,
        attribute="invitation.type",
        metadata={"description": "Role that the account gets in the workspace."},
    )
    message = fields.String(
        required=True,
        allow_none=True,
        attribute="invitation.message",
        metadata={"description": "Personal message of the inviting account."},
    )
    expires_at = Timestamp(
        required=True,
        attribute="invitation.expires_at",
        metadata={"description": "When the invitation expires."},
    )
    created_at = Timestamp(
        required=True,
        attribute="invitation.created_at",
        metadata={"description": "When the invitation was created."},
    )


class MailedInvitationRead(ReceivedInvitationRead):
    """An invitation as the holder of the emailed secret sees it."""

    email_hint = fields.Function(
        lambda invited: _hint(invited.invitation.email),
        required=True,
        metadata={
            "description": "Start and domain of the invited email address.",
            "type": "string",
            "example": "g…@example.com",
        },
    )
    account_exists = fields.Boolean(
        required=True, metadata={"description": "Whether the invited email address has an account."}
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
    detail = "Whoever sent this invitation can no longer invite you"
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


class AddressNotVerified(Forbidden):
    code = "address_not_proven"
    detail = "Prove your email address first"
    title = "The account's email address must be verified first"
    cause = "An invitation can be accepted only by an account with a verified email address."
    fix = "Verify the email address of the account, then accept the invitation."


class TooManyInvitations(TooManyRequests):
    code = "too_many_invitations"
    detail = "Too many invitations"
    title = "Too many invitations"
    cause = (
        "The account sent more invitations in an hour than `WORKSPACES__INVITATIONS_PER_HOUR`"
        " allows."
    )
    fix = "Wait for the number of seconds in `Retry-After`."
