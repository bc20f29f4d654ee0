"""What happened in a workspace, for those who manage it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flask import Response, request
from markupsafe import Markup, escape

from ...accounts.service import Accounts
from ...audit.service import Records
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.errors import Invalid
from ...core.types import Values
from ...core.web.operation import hidden
from ...extension.actions import ACTIONS
from ...workspaces.guards import active_member_required, current_workspace, workspace_roles_required
from ...workspaces.invitations.service import Invitations
from ...workspaces.models import MANAGERS
from ...workspaces.routes import IN_PATH
from ..texts import _, later
from ..ways import to
from .room import room_page

PER_PAGE = 30


@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@hidden
def workspace_activity_page(workspace_slug: str) -> Response:
    after = request.args.get("after") or None
    records = service(Records)
    try:
        found = records.of_workspace(current_workspace.id, after, PER_PAGE)
    except Invalid:
        # Whoever has written the address by hand begins in front.
        after = None
        found = records.of_workspace(current_workspace.id, after, PER_PAGE)
    own = ".workspace_activity_page"
    return room_page(
        "activity.html",
        "activity",
        deeds=told(found.rows),
        newest=to(own, workspace_slug=workspace_slug) if after else None,
        older=to(own, workspace_slug=workspace_slug, after=found.after) if found.after else None,
    )


Item = Mapping[str, Any]

# By the type of the record; `self` where somebody does it to themselves.
_SENTENCES = {
    "workspace.created": ("plus", later("{who} created this workspace")),
    "workspace.updated": ("edit", later("{who} changed the name or URL")),
    "member.added": ("user", later("{who} added {whom}")),
    "member.added self": ("user", later("{whom} joined")),
    "member.updated": ("edit", later("{who} changed the role of {whom}: {what}")),
    "member.removed": ("minus", later("{who} removed {whom}")),
    "member.removed self": ("logout", later("{whom} left")),
    "invitation.created": ("mail", later("{who} invited {invited}")),
    "invitation.renewed": ("mail", later("{who} invited {invited} again")),
    "invitation.resent": ("send", later("{who} sent the invitation to {invited} again")),
    "invitation.revoked": ("cross", later("{who} revoked the invitation to {invited}")),
    "invitation.accepted": ("check", later("{whom} accepted the invitation")),
    "invitation.declined": ("cross", later("{invited} declined the invitation")),
}
_OTHERS = {
    "cli": later("An operator"),
    "system": later("The service"),
    "anonymous": later("Anonymous"),
}
# A host may have statuses of its own.
_WORDS = {
    "owner": later("Owner"),
    "admin": later("Admin"),
    "member": later("Member"),
    "guest": later("Guest"),
    "active": later("Active"),
    "suspended": later("Suspended"),
}


class Deed(NamedTuple):
    """What the records of a workspace say, in a sentence each."""

    at: datetime
    icon: str
    text: Markup


def told(items: Sequence[Item]) -> list[Deed]:
    """Two questions for a page, however many people it names."""
    named = {item[key] for item in items for key in ("actor_id", "account_id")} - {None}
    emails = service(Accounts).rows.emails(named)
    invited = service(Invitations).addresses(
        int(item["target_id"]) for item in items if item["target_kind"] == "invitation"
    )
    return [_deed(item, emails, invited) for item in items]


def _deed(item: Item, emails: Mapping[Any, str], invited: Mapping[int, str]) -> Deed:
    kind = item["type"]
    is_own = item["account_id"] is not None and item["actor_id"] == item["account_id"]
    icon, text = _SENTENCES.get(
        f"{kind} self" if is_own else kind, _SENTENCES.get(kind, ("info", ""))
    )
    if not text:
        known = ACTIONS.get(kind)
        meaning = _(known.title) if known is not None else escape(kind)
        return Deed(item["at"], icon, _("{who}: {what}", who=_who(item, emails), what=meaning))
    whom = emails.get(item["account_id"], _("deleted account"))
    mailed = invited.get(int(item["target_id"])) if item["target_kind"] == "invitation" else None
    return Deed(
        item["at"],
        icon,
        _(
            text,
            who=_strong(_who(item, emails)),
            whom=_strong(whom),
            invited=_strong(mailed or _("somebody")),
            what=_change(item["data"]),
        ),
    )


def _who(item: Item, emails: Mapping[Any, str]) -> str:
    if item["actor_id"] is None:
        return _(_OTHERS.get(item["actor_kind"], _OTHERS["system"]))
    return emails.get(item["actor_id"], _("Deleted account"))


def _word(name: str) -> Markup | str:
    return _(_WORDS[name]) if name in _WORDS else name


def _strong(text: str) -> Markup:
    return Markup("<b>{}</b>").format(text)


def _change(data: Values) -> Markup:
    """From what to what, of those that changed."""
    before, after = data.get("before") or {}, data.get("after") or {}
    changed = [
        Markup("{} → {}").format(_word(before[name]), _word(after[name]))
        for name in ("type", "status")
        if name in before and name in after and before[name] != after[name]
    ]
    return Markup(", ").join(changed)
