"""The actions and signals of workspaces, members and invitations."""

from ..core.actions import Action, Signal, Title, Variant, changed, differs, find_changes
from ..core.types import Values

# The areas of the audit log, with the first part of the names of their actions.
AREAS = {"Workspaces": ("workspace", "member", "invitation")}

_TYPE_AND_STATUS = "type, status"
_INVITED = {"type": "the type that the invited user will have"}


def _describe_workspace(data: Values) -> Title | None:
    titles = {"name": Title("Workspace renamed"), "slug": Title("Workspace address changed")}
    changed = data.get("changed", ())
    return titles.get(changed[0]) if len(changed) == 1 else None


def _describe_new_member(data: Values) -> Title | None:
    found = data.get("after") or {}
    return Title("Workspace member added as {type}", found) if "type" in found else None


def _describe_member(data: Values) -> Title | None:
    changes = find_changes(data)
    if len(changes) != 1:
        return None
    name, before, after = changes[0]
    values = {"before": before, "after": after}
    if name == "type":
        return Title("Workspace role changed from {before} to {after}", values)
    if after == "suspended":
        return Title("Workspace member suspended")
    if before == "suspended":
        return Title("Workspace member reactivated")
    return Title("Status in the workspace changed from {before} to {after}", values)


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
    "workspace.updated",
    "Workspace changed",
    {"changed": "`name`, `slug` or both"},
    describe=_describe_workspace,
    variants={
        "name": Variant("Workspace renamed", changed("name")),
        "slug": Variant("Workspace address changed", changed("slug")),
    },
)
WORKSPACE_DELETED = Action(
    "workspace.deleted", "Workspace deleted", {"name": "the name, unless it was personal"}
)
MEMBER_ADDED = Action(
    "member.added",
    "Workspace member added",
    {"after": _TYPE_AND_STATUS},
    log_event="membership",
    log_fields={"change": "added"},
    describe=_describe_new_member,
)
MEMBER_UPDATED = Action(
    "member.updated",
    "Workspace member changed",
    {"before": _TYPE_AND_STATUS, "after": _TYPE_AND_STATUS},
    log_event="membership",
    log_fields={"change": "changed"},
    describe=_describe_member,
    variants={
        "role": Variant("Workspace role changed", differs("type")),
        "suspended": Variant("Workspace member suspended", differs("status", after="suspended")),
        "restored": Variant("Workspace member reactivated", differs("status", before="suspended")),
    },
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
