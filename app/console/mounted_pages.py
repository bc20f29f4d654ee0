"""The pages that an application has: those of the blueprints that it mounts."""

import re
from collections.abc import Collection

from .routes import ROUTES

# The blueprints that pages need, by the start of their paths; the longest start applies. The pages
# of all other paths belong to the console itself: sign-in, account, security, and the first start.
NEEDS = {
    "/register": {"registration"},
    "/dashboard": {"notifications"},
    "/profile": {"profiles"},
    "/account/activity": {"events"},
    "/account/exports": {"exports"},
    "/account/delete": {"deletion"},
    "/invitation": {"invitations"},
    "/invitations": {"invitations"},
    "/workspaces": {"workspaces"},
    "/workspaces/<workspace_slug>/invitations": {"workspaces", "invitations"},
    "/workspaces/<workspace_slug>/activity": {"workspaces", "events"},
    "/admin": {"administration"},
    "/admin/accounts/selected/add": {"administration", "workspaces"},
    "/admin/accounts/selected/email": {"administration", "admin_notifications"},
    "/admin/workspaces": {"administration", "workspaces"},
    "/admin/events": {"events"},
    "/admin/broadcasts": {"admin_notifications"},
    "/admin/deliveries": {"admin_notifications"},
}
# The first of these pages that exists is the page after a sign-in.
HOMES = (".dashboard", ".profile_page", ".account_page")


def _needs(path: str) -> Collection[str]:
    starts = [start for start in NEEDS if re.match(f"{re.escape(start)}(?![^/.])", path)]
    return NEEDS[max(starts, key=len)] if starts else ()


_BY_NAME = {view.rpartition(".")[2]: _needs(path) for _method, path, view in ROUTES}


def is_mounted(endpoint: str, mounted: Collection[str]) -> bool:
    """Return whether the application mounts all blueprints of a page or form.

    Args:
        endpoint: The endpoint, such as `.dashboard` or `console.dashboard`. An endpoint of the
            application's own is always mounted.
        mounted: The names of the mounted blueprints.
    """
    return all(name in mounted for name in _BY_NAME.get(endpoint.rpartition(".")[2], ()))
