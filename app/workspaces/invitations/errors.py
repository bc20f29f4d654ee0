from __future__ import annotations

from ...core.errors import Conflict, Forbidden, NotFound, TooManyRequests


class InvitationNotFound(NotFound):
    code = "invitation_not_found"
    detail = "Invitation not found"


class InvitationClosed(Conflict):
    code = "invitation_closed"
    detail = "This invitation is no longer open"


class InviterGone(Conflict):
    """Who invited is no member now, or one who may not bring in such members."""

    code = "inviter_gone"
    detail = "Whoever sent this invitation can no longer invite you"


class OtherAddress(Forbidden):
    code = "other_address"
    detail = "This invitation was sent to another address"


class AddressNotProven(Forbidden):
    code = "address_not_proven"
    detail = "Prove your email address first"


class TooManyInvitations(TooManyRequests):
    code = "too_many_invitations"
    detail = "Too many invitations"
