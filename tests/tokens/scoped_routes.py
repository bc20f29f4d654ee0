"""The routes that accept tokens, and how each kind of route responds to each kind of token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class ScopedRoute(NamedTuple):
    kind: str
    scope: str
    # The status of an accepted request.
    status: str = "200"


OK = "accepted"
SCOPE, ROLE = "403 insufficient_scope", "403 not_authorized"
NO_MEMBER, ACCOUNT = "403 not_a_member", "403 account_required"

# The tokens have all scopes if nothing else is said. They belong to an account that was a root and
# an owner of the workspace in the path when they were created.
CALLERS = (
    "all scopes but that of the route",
    "only the scope of the route",
    "bound to another workspace",
    "bound to the workspace in the path",
    "of an account that is now a user and a member",
    "of the workspace, as an admin",
    "of the workspace, as a member",
    "of another workspace, as an admin",
)
# By kind of route, the responses to these callers.
RESPONSES: dict[str, tuple[str, ...]] = {
    # Without a scope: pages of the console and routes with optional callers too.
    "closed": (SCOPE, SCOPE, SCOPE, SCOPE, SCOPE, SCOPE, SCOPE, SCOPE),
    # Outside of workspaces; "anywhere" also accepts tokens of an account that are bound to one.
    "anywhere": (SCOPE, OK, OK, OK, OK, ACCOUNT, ACCOUNT, ACCOUNT),
    "account": (SCOPE, OK, SCOPE, SCOPE, OK, ACCOUNT, ACCOUNT, ACCOUNT),
    "admin": (SCOPE, OK, SCOPE, SCOPE, ROLE, ACCOUNT, ACCOUNT, ACCOUNT),
    # Outside of workspaces unless a header names one, and for every member of it.
    "account or member": (SCOPE, OK, SCOPE, SCOPE, OK, SCOPE, SCOPE, SCOPE),
    # Within the workspace in the path.
    "member": (SCOPE, OK, NO_MEMBER, OK, OK, OK, OK, NO_MEMBER),
    "manager": (SCOPE, OK, NO_MEMBER, OK, ROLE, OK, ROLE, NO_MEMBER),
    # There, but for accounts only.
    "member with an account": (SCOPE, OK, NO_MEMBER, OK, OK, ACCOUNT, ACCOUNT, ACCOUNT),
    "manager with an account": (SCOPE, OK, NO_MEMBER, OK, ROLE, ACCOUNT, ACCOUNT, ACCOUNT),
}
# Tokens that are rejected before their scopes are compared, by every route that reads a credential.
INVALID = {
    "expired": "401 expired",
    "ended": "401 revoked",
    "expired, of the workspace": "401 expired",
    "ended, of the workspace": "401 revoked",
    "of an inactive account": "401 account_inactive",
    # A suspension ends tokens for good.
    "of a suspended account": "401 revoked",
}

# The sections are the kinds. A route that has a scope and no line is expected to be closed.
_TABLE = """
[anywhere]
account:read        GET    /account
notifications:read  GET    /notifications/
notifications:read  GET    /notifications/unread-count
notifications:read  GET    /notifications/preferences
notifications:read  GET    /notifications/<row_id:notification_id>
notifications:write PUT    /notifications/preferences
notifications:write POST   /notifications/seen
notifications:write PATCH  /notifications/mark-all
notifications:write PATCH  /notifications/<row_id:notification_id>/mark
notifications:write DELETE /notifications/<row_id:notification_id>
account:read        GET    /own/anywhere
[account]
audit:read          GET    /account/events
workspaces:read     GET    /workspaces
profiles:read       GET    /profiles
profiles:write      POST   /profiles 409
profiles:write      PUT    /profiles
profiles:write      DELETE /profiles
profiles:write      PUT    /profiles/avatar 422
account:read        GET    /own/account
[admin]
profiles:write      PUT    /profiles/<account_id:account_id>
accounts:read       GET    /admin/accounts/
accounts:read       GET    /admin/accounts/<account_id:account_id>
accounts:read       GET    /admin/accounts/<account_id:account_id>/deliveries
accounts:read       GET    /admin/accounts/<account_id:account_id>/memberships
accounts:write      POST   /admin/accounts/ 409
accounts:write      PATCH  /admin/accounts/<account_id:account_id>
audit:read          GET    /admin/accounts/<account_id:account_id>/events
audit:read          GET    /admin/events
audit:read          GET    /admin/events.jsonl
notifications:send  POST   /admin/notifications/ 201
notifications:send  POST   /admin/notifications/reach
notifications:send  GET    /admin/notifications/all
notifications:send  GET    /admin/notifications/<row_id:notification_id>
notifications:send  GET    /admin/notifications/<row_id:notification_id>/deliveries
notifications:send  POST   /admin/notifications/<row_id:notification_id>/retry
notifications:send  POST   /admin/notifications/<row_id:notification_id>/stop
notifications:send  DELETE /admin/notifications/<row_id:notification_id>
account:read        GET    /own/admin
[account or member]
profiles:read       GET    /profiles/<account_id:account_id>
[member]
profiles:read       GET    /<workspace_slug>/profiles/<account_id:account_id>
workspaces:read     GET    /workspaces/<workspace_slug>
members:read        GET    /workspaces/<workspace_slug>/members
account:read        GET    /own/<workspace_slug>
[manager]
members:write       PATCH  /workspaces/<workspace_slug>/members/<account_id:account_id>
members:write       DELETE /workspaces/<workspace_slug>/members/<account_id:account_id>
audit:read          GET    /workspaces/<workspace_slug>/events
[member with an account]
profiles:read       GET    /<workspace_slug>/profiles
profiles:write      POST   /<workspace_slug>/profiles 409
profiles:write      PUT    /<workspace_slug>/profiles
profiles:write      DELETE /<workspace_slug>/profiles
profiles:write      PUT    /<workspace_slug>/profiles/avatar 422
account:read        GET    /own/<workspace_slug>/person
[manager with an account]
profiles:write      PUT    /<workspace_slug>/profiles/<account_id:account_id>
members:write       POST   /workspaces/<workspace_slug>/members
members:read        GET    /workspaces/<workspace_slug>/invitations
members:write       POST   /workspaces/<workspace_slug>/invitations 201
members:write       POST   /workspaces/<workspace_slug>/invitations/<row_id:invitation_id>/resend
members:write       DELETE /workspaces/<workspace_slug>/invitations/<row_id:invitation_id>
"""


def _read_table() -> Iterator[tuple[str, ScopedRoute]]:
    kind = ""
    for line in _TABLE.split("\n")[1:-1]:
        if line.startswith("["):
            kind = line[1:-1]
        else:
            scope, method, path, *status = line.split()
            yield f"{method} {path}", ScopedRoute(kind, scope, *status)


ROUTES = dict(_read_table())


def expected_response(route: str, caller: str) -> str:
    """Return the expected response of a route that reads a credential."""
    if caller in INVALID:
        return INVALID[caller]
    found = ROUTES.get(route)
    response = RESPONSES[found.kind if found else "closed"][CALLERS.index(caller)]
    return found.status if found and response == OK else response
