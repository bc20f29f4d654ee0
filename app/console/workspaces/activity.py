"""The audit log of a workspace, for its owners and admins: the list, and downloads."""

from collections.abc import Iterator
from functools import partial

from flask import Response

from ...auth.caller import caller
from ...core.context import service
from ...workspaces.guards import current_workspace
from ...workspaces.members import Members
from ..audit_filter import APPLICATION, MAX_HITS, Hit
from ..audit_log import EntryList
from .layout import managers_only, render_workspace_page

# The areas of the actions in the filter; other actions belong to no workspace.
_AREAS = ("Workspaces", "Tokens for programs", "Rejected requests", APPLICATION)


@managers_only
def workspace_activity_page(workspace_slug: str) -> Response:
    return _list(workspace_slug).show(partial(render_workspace_page, "activity.html", "activity"))


@managers_only
def workspace_activity_csv(workspace_slug: str) -> Response:
    return _list(workspace_slug).download(f"{current_workspace.slug}-events.csv")


@managers_only
def workspace_activity_file(workspace_slug: str) -> Response:
    return _list(workspace_slug).download(f"{current_workspace.slug}-events.jsonl")


def _list(slug: str) -> EntryList:
    path = {"workspace_slug": slug}
    return EntryList("workspace_activity", _find, current_workspace.id, path, _AREAS)


def _find(search: str) -> Iterator[Hit]:
    """Yield the members with a text. An address that no member has is a filter as well: that of a
    former member finds entries, and the result does not show whether there is an account."""
    found = service(Members).page(current_workspace.id, caller().account, 0, MAX_HITS, search)
    for each in found:
        yield Hit("account", each.email, each.email)
    if "@" in search and not found:
        yield Hit("account", search, search)
