"""The actions and signals of workspaces, members and invitations."""

from ..core.actions import Action, Signal

_TYPE_AND_STATUS = "type, status"
_INVITED = {"type": "the type that the invited user will have"}

INVITATION_CREATION = Signal(
    "invitation-created",
    "the `Invitation` (`workspace_id`, `inviter_id`, `email`, `type`, …)",
    "when an email address is invited to a workspace, inside the transaction and before the email",
)
ACCEPTANCE = Signal(
    "invitation-accepted",
    "the `Invitation`",
    "when an invitation is accepted, after the membership is created, inside the transaction",
)
REFUSAL = Signal(
    "invitation-declined",
    "the `Invitation`",
    "when an invitation is declined, inside the transaction",
)

WORKSPACE_CREATED = Action("workspace.created", "Workspace created")
WORKSPACE_UPDATED = Action(
    "workspace.updated", "Workspace changed", {"changed": "`name`, `slug` or both"}
)
WORKSPACE_DELETED = Action("workspace.deleted", "Workspace deleted")
MEMBER_ADDED = Action(
    "member.added",
    "Workspace member added",
    {"after": _TYPE_AND_STATUS},
    log_event="membership",
    log_fields={"change": "added"},
)
MEMBER_UPDATED = Action(
    "member.updated",
    "Workspace member changed",
    {"before": _TYPE_AND_STATUS, "after": _TYPE_AND_STATUS},
    log_event="membership",
    log_fields={"change": "changed"},
)
MEMBER_REMOVED = Action(
    "member.removed",
    "Workspace member removed",
    {"before": _TYPE_AND_STATUS},
    log_event="membership",
    log_fields={"change": "removed"},
)
INVITATION_CREATED = Action(
    "invitation.created", "Invitation created", _INVITED, signal=INVITATION_CREATION
)
INVITATION_RENEWED = Action("invitation.renewed", "Invitation renewed", _INVITED)
INVITATION_RESENT = Action("invitation.resent", "Invitation sent again")
INVITATION_REVOKED = Action("invitation.revoked", "Invitation revoked")
INVITATION_ACCEPTED = Action("invitation.accepted", "Invitation accepted", signal=ACCEPTANCE)
INVITATION_DECLINED = Action("invitation.declined", "Invitation declined", signal=REFUSAL)
