"""The layout of a workspace's pages: its name, tabs, and the user's other workspaces."""

from collections.abc import Sequence
from typing import Any

from flask import Response

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.types import JsonObject
from ...core.web.operation import View
from ...workspaces.guards import (
    active_member_required,
    current_member,
    current_workspace,
    workspace_roles_required,
)
from ...workspaces.models import MANAGERS, MEMBER_TYPES, OWNER
from ...workspaces.routes import IN_PATH
from ...workspaces.service import Workspaces
from ..links import link_to
from ..pages import render_page
from ..resources import ConsoleResources
from ..texts import _

# The endpoint of each tab.
_TABS = {
    "members": ".workspace_page",
    "invitations": ".workspace_invitations_page",
    "activity": ".workspace_activity_page",
    "tokens": ".workspace_tokens_page",
    "settings": ".workspace_settings_page",
}
_FOR_ALL_MEMBERS = ("members", "settings")


def members_only(view: View) -> View:
    return active_account_required(active_member_required(resolver=IN_PATH)(view))


def managers_only(view: View) -> View:
    return members_only(workspace_roles_required(*MANAGERS, resolver=IN_PATH)(view))


def owners_only(view: View) -> View:
    return members_only(workspace_roles_required(OWNER, resolver=IN_PATH)(view))


def render_workspace_page(template: str, tab: str, **context: Any) -> Response:
    account = caller().account
    return render_page(
        f"workspaces/{template}",
        at="workspaces_page",
        workspace=current_workspace,
        member=current_member,
        manages=current_member.type in MANAGERS,
        tabs=_tabs(tab),
        mine=[each.workspace for each in service(Workspaces).first_page(account)],
        is_current=account.current_workspace_id == current_workspace.id,
        **context,
    )


def assignable_types() -> Sequence[str]:
    """Return the member types that the user may assign."""
    return [kind for kind in MEMBER_TYPES if current_member.may_manage(kind)]


def _tabs(current: str) -> list[JsonObject]:
    titles = {
        "members": _("Members"),
        "invitations": _("Invitations"),
        "activity": _("Activity"),
        "tokens": _("Tokens"),
        "settings": _("Settings"),
    }
    manages = current_member.type in MANAGERS
    slug, features = current_workspace.slug, service(ConsoleResources).features
    return [
        {
            "title": titles[name],
            "url": link_to(endpoint, workspace_slug=slug),
            "current": name == current,
        }
        for name, endpoint in _TABS.items()
        if features.has(endpoint) and (manages or name in _FOR_ALL_MEMBERS)
    ]
