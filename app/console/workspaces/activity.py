"""The audit log of a workspace, for its owners and admins: filters, pages and downloads."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flask import Response
from markupsafe import Markup

from ...accounts.service import Accounts
from ...audit.schemas import EntryFilter, EntryPage, WorkspaceRecordRead
from ...audit.service import AuditLog
from ...core.context import service
from ...core.db.account_ids import serialize_id
from ...core.errors import Invalid
from ...core.types import AccountKey, Values
from ...core.web.paging import Slice
from ...core.web.replicas import reads_replica
from ...core.web.request_data import load_body
from ...workspaces.guards import current_workspace
from ...workspaces.invitations.service import Invitations
from ..admin.filters import days_to_timestamps, error_messages, filter_values
from ..audit_log import (
    APPLICATION,
    PERSON_FILTERS,
    action_groups,
    actor_name,
    download,
    entry_title,
    load_filters,
)
from ..links import link_to, redirect
from ..texts import _, _p, mark
from .layout import managers_only, render_workspace_page

AT = ".workspace_activity_page"
PER_PAGE = 30
FILTERS = ("type", *PERSON_FILTERS, "since", "until")
# The areas of the actions in the filter; other actions belong to no workspace.
_AREAS = ("Workspaces", "Tokens for programs", "Rejected requests", APPLICATION)


@managers_only
def workspace_activity_page(workspace_slug: str) -> Response:
    filters = filter_values(FILTERS)
    found = Slice([])
    errors: Sequence[str] = ()
    try:
        found = _page(_load_filters(filters))
    except Invalid as problem:
        errors = error_messages(problem)
    query = {"workspace_slug": workspace_slug, **filters}
    return render_workspace_page(
        "activity.html",
        "activity",
        status=422 if errors else 200,
        entries=activity_entries(found.rows),
        filters=filters,
        errors=errors,
        groups=action_groups(_AREAS),
        more=bool(filters.keys() - {"type", "account"}),
        csv_url=link_to(".workspace_activity_csv", **query),
        lines_url=link_to(".workspace_activity_file", **query),
        newer=link_to(AT, **query, before=found.before) if found.before else None,
        older=link_to(AT, **query, after=found.after) if found.after else None,
    )


@reads_replica
def _page(filters: EntryFilter.Input | None) -> Slice:
    if filters is None:
        return Slice([])
    try:
        page: EntryPage.Input = load_body(EntryPage, filter_values(("after", "before")))
        return service(AuditLog).page(filters, {**page, "limit": PER_PAGE}, WorkspaceRecordRead)
    except Invalid:
        # An invalid position means the first page.
        return service(AuditLog).page(filters, {"limit": PER_PAGE}, WorkspaceRecordRead)


def _load_filters(given: Mapping[str, str]) -> EntryFilter.Input | None:
    """Return the filters within this workspace, or None if no entry can match.

    The result is the same for an address without an account and for an account without entries
    here: managers do not learn who has an account.
    """
    query = days_to_timestamps(given, starts="since", ends="until")
    for name in PERSON_FILTERS:
        if "@" in query.get(name, ""):
            found = service(Accounts).find(query[name])
            if found is None:
                return None
            query[name] = serialize_id(found.id)
    return {**load_filters(query), "workspace": current_workspace.id}


@managers_only
def workspace_activity_csv(workspace_slug: str) -> Response:
    return _download(workspace_slug, "csv")


@managers_only
def workspace_activity_file(workspace_slug: str) -> Response:
    return _download(workspace_slug, "jsonl")


def _download(workspace_slug: str, extension: str) -> Response:
    filters = filter_values(FILTERS)
    try:
        name = f"{current_workspace.slug}-events.{extension}"
        return download(name, _load_filters(filters), WorkspaceRecordRead)
    except Invalid:
        # The page shows the errors of the filters.
        return redirect(link_to(AT, workspace_slug=workspace_slug, **filters))


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
    "workspace_token.created": ("key", mark("{who} created the token {token}")),
    "workspace_token.ended": ("cross", mark("{who} ended the token {token}")),
}
_OTHERS = {
    "cli": mark("An operator"),
    "system": mark("The service"),
    "anonymous": mark("Anonymous"),
}
_TYPES = {
    "owner": mark("Owner"),
    "admin": mark("Admin"),
    "member": mark("Member"),
    "guest": mark("Guest"),
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


def _entry(
    item: Item, emails: Mapping[AccountKey, str], invited: Mapping[int, str]
) -> WorkspaceActivity:
    kind = item["type"]
    is_own = item["account_id"] is not None and item["actor_id"] == item["account_id"]
    icon, text = _SENTENCES.get(
        f"{kind} self" if is_own else kind, _SENTENCES.get(kind, ("info", ""))
    )
    if not text:
        text = _("{who}: {what}", who=_who(item, emails), what=entry_title(item))
        return WorkspaceActivity(item["at"], icon, text)
    account = emails.get(item["account_id"], _("deleted account"))
    email = invited.get(int(item["target_id"])) if item["target_kind"] == "invitation" else None
    address = email or _("an unknown address")
    return WorkspaceActivity(
        item["at"],
        icon,
        _(
            text,
            who=_strong(_who(item, emails)),
            account=_strong(account),
            invited=_strong(address),
            what=_change(item["data"]),
            token=_strong(item["data"].get("name", "")),
        ),
    )


def _who(item: Item, emails: Mapping[AccountKey, str]) -> str:
    if name := actor_name(item, emails):
        return name
    if item["actor_id"] is None:
        return _(_OTHERS.get(item["actor_kind"], _OTHERS["system"]))
    return _("Deleted account")


def _name(name: str) -> Markup | str:
    """Return the title of a member's type or status; a status of the application is its own."""
    if name in _TYPES:
        return _(_TYPES[name])
    statuses = {"active": _p("member", "Active"), "suspended": _p("member", "Suspended")}
    return statuses.get(name, name)


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
