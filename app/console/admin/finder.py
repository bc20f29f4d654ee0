"""Finds accounts, workspaces and broadcasts by a text, for the command palette and for fields."""

from collections.abc import Sequence
from contextlib import suppress

from flask import Response

from ...broadcasts.sent import SentNotifications
from ...core.context import service
from ...core.errors import Invalid
from ...workspaces.directory import WorkspaceDirectory
from ...workspaces.errors import WorkspaceNotFound
from ...workspaces.models import Workspace
from ...workspaces.service import Workspaces
from ..links import link_to
from ..pages import render_fragment
from ..resources import ConsoleResources
from ..texts import _
from .accounts import find_accounts, people_of
from .filters import admins_only, filter_values

# The number of workspaces in a list, and of each kind of result besides accounts.
LISTED, FOUND = 50, 5


@admins_only
def found_pages() -> Response:
    """Return the results of the command palette."""
    search = filter_values(("search",)).get("search", "")
    accounts, has = find_accounts(search), service(ConsoleResources).features.has
    finds_broadcasts = search and has(".broadcasts_page")
    return render_fragment(
        "admin/found.html",
        accounts=accounts,
        people=people_of(accounts),
        all_url=link_to(".managed_accounts_page", search=search),
        workspaces=find_workspaces(search, FOUND) if search else (),
        broadcasts=service(SentNotifications).named(search, FOUND) if finds_broadcasts else (),
    )


@admins_only
def found_workspaces() -> Response:
    """Return the list of the field for a workspace."""
    text = filter_values(("workspace",)).get("workspace", "")
    return render_fragment("admin/workspaces/options.html", workspaces=find_workspaces(text))


def find_workspaces(search: str = "", limit: int = LISTED) -> Sequence[Workspace]:
    """Return the newest workspaces with a name or slug that starts with a text."""
    has = service(ConsoleResources).features.has(".found_workspaces")
    return service(WorkspaceDirectory).named(search, limit) if has else ()


def chosen_workspace(text: str) -> Workspace:
    """Return the workspace with this slug, or with a name that only one workspace has.

    Raises Invalid with the slugs of similar workspaces.
    """
    with suppress(WorkspaceNotFound):
        return service(Workspaces).get(text)
    found = find_workspaces(text)
    named = [each for each in found if each.name.casefold() == text.casefold()]
    if len(named) == 1 and len(found) < LISTED:
        return named[0]
    some = ", ".join(each.slug for each in (named or found)[:FOUND])
    problem = _("No workspace has the name or address {name}.", name=text)
    if some:
        problem = _("Enter the address of one workspace, such as: {slugs}.", slugs=some)
    raise Invalid.about("workspace", problem)
