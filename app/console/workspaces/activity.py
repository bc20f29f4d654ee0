"""The activity in a workspace, for its managers."""

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
from ..links import link_to
from ..texts import _, mark
from .layout import render_workspace_page

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
        # An invalid position means the first page.
        after = None
        found = records.of_workspace(current_workspace.id, after, PER_PAGE)
    endpoint = ".workspace_activity_page"
    return render_workspace_page(
        "activity.html",
        "activity",
        entries=activity_entries(found.rows),
        newest=link_to(endpoint, workspace_slug=workspace_slug) if after else None,
        older=link_to(endpoint, workspace_slug=workspace_slug, after=found.after)
        if found.after
        else None,
    )


Item = Mapping[str, Any]

# The sentence for each type of entry; `self` is for actions of accounts on themselves.
_SENTENCES = {
    "workspace.created": ("plus", mark("{who} created this workspace")),
    "workspace.updated": ("edit", mark("{who} changed the name or URL")),
    "member.added": ("user", mark("{who} added {account}")),
    "member.added self": ("user", mark("{account} joined")),
    "member.updated": ("edit", mark("{who} changed the role of {account}: {what}")),
    "member.removed": ("minus", mark("{who} removed {account}")),
    "member.removed self": ("logout", mark("{account} left")),
    "invitation.created": ("mail", mark("{who} invited {invited}")),
    "invitation.renewed": ("mail", mark("{who} invited {invited} again")),
    "invitation.resent": ("send", mark("{who} sent the invitation to {invited} again")),
    "invitation.revoked": ("cross", mark("{who} revoked the invitation to {invited}")),
    "invitation.accepted": ("check", mark("{account} accepted the invitation")),
    "invitation.declined": ("cross", mark("{invited} declined the invitation")),
}
_OTHERS = {
    "cli": mark("An operator"),
    "system": mark("The service"),
    "anonymous": mark("Anonymous"),
}
# The names of built-in types and statuses; an application can have other statuses.
_NAMES = {
    "owner": mark("Owner"),
    "admin": mark("Admin"),
    "member": mark("Member"),
    "guest": mark("Guest"),
    "active": mark("Active"),
    "suspended": mark("Suspended"),
}


class WorkspaceActivity(NamedTuple):
    """One audit log entry of a workspace as a sentence."""

    at: datetime
    icon: str
    text: Markup


def activity_entries(items: Sequence[Item]) -> list[WorkspaceActivity]:
    """Return the entries of a page, with two queries for the names of all people."""
    named = {item[key] for item in items for key in ("actor_id", "account_id")} - {None}
    emails = service(Accounts).rows.emails(named)
    invited = service(Invitations).addresses(
        int(item["target_id"]) for item in items if item["target_kind"] == "invitation"
    )
    return [_entry(item, emails, invited) for item in items]


def _entry(item: Item, emails: Mapping[Any, str], invited: Mapping[int, str]) -> WorkspaceActivity:
    kind = item["type"]
    is_own = item["account_id"] is not None and item["actor_id"] == item["account_id"]
    icon, text = _SENTENCES.get(
        f"{kind} self" if is_own else kind, _SENTENCES.get(kind, ("info", ""))
    )
    if not text:
        known = ACTIONS.get(kind)
        meaning = _(known.title) if known is not None else escape(kind)
        return WorkspaceActivity(
            item["at"], icon, _("{who}: {what}", who=_who(item, emails), what=meaning)
        )
    account = emails.get(item["account_id"], _("deleted account"))
    email = invited.get(int(item["target_id"])) if item["target_kind"] == "invitation" else None
    return WorkspaceActivity(
        item["at"],
        icon,
        _(
            text,
            who=_strong(_who(item, emails)),
            account=_strong(account),
            invited=_strong(email or _("a deleted invitation")),
            what=_change(item["data"]),
        ),
    )


def _who(item: Item, emails: Mapping[Any, str]) -> str:
    if item["actor_id"] is None:
        return _(_OTHERS.get(item["actor_kind"], _OTHERS["system"]))
    return emails.get(item["actor_id"], _("Deleted account"))


def _name(name: str) -> Markup | str:
    return _(_NAMES[name]) if name in _NAMES else name


def _strong(text: str) -> Markup:
    return Markup("<b>{}</b>").format(text)


def _change(data: Values) -> Markup:
    """Return the old and new values of the type and status."""
    before, after = data.get("before") or {}, data.get("after") or {}
    changed = [
        Markup("{} → {}").format(_name(before[name]), _name(after[name]))
        for name in ("type", "status")
        if name in before and name in after and before[name] != after[name]
    ]
    return Markup(", ").join(changed)
