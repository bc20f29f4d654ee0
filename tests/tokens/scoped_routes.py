"""The routes that accept tokens, and how each kind of route responds to each kind of token."""

from __future__ import annotations

from typing import NamedTuple


class ScopedRoute(NamedTuple):
    kind: str
    scope: str
    # The status of an accepted request.
    status: str = "200"


OK = "accepted"
SCOPE, ROLE = "403 insufficient_scope", "403 not_authorized"
STRANGER, ACCOUNT = "403 not_a_member", "403 account_required"

# The tokens have all scopes if nothing else is said. They belong to an account that was a root and
# an owner of the workspace in the path when they were created.
CALLERS = (
    "all scopes but that of the route",
    "only the scope of the route",
    "bound to another workspace",
    "bound to the workspace in the path",
    "of an account that is now a user and a member",
)
# By kind of route, the responses to these callers.
RESPONSES: dict[str, tuple[str, ...]] = {
    # Without a scope: pages of the console and routes with optional callers too.
    "closed": (SCOPE, SCOPE, SCOPE, SCOPE, SCOPE),
    # Outside of workspaces; "anywhere" also accepts tokens that are bound to one.
    "anywhere": (SCOPE, OK, OK, OK, OK),
    "account": (SCOPE, OK, SCOPE, SCOPE, OK),
    "admin": (SCOPE, OK, SCOPE, SCOPE, ROLE),
    # Within the workspace in the path.
    "member": (SCOPE, OK, STRANGER, OK, OK),
    "manager": (SCOPE, OK, STRANGER, OK, ROLE),
    "inviter": (SCOPE, OK, STRANGER, OK, ROLE),
}
# Tokens that are rejected before their scopes are compared, by every route that reads a credential.
INVALID = {
    "expired": "401 expired",
    "ended": "401 revoked",
    "of an inactive account": "401 account_inactive",
    # A suspension ends tokens for good.
    "of a suspended account": "401 revoked",
}

# A route that has a scope and no line is expected to be closed, and fails.
_TABLE = """
anywhere account:read        GET    /account
anywhere notifications:read  GET    /notifications/
anywhere notifications:read  GET    /notifications/unread-count
anywhere notifications:read  GET    /notifications/preferences
anywhere notifications:read  GET    /notifications/<row_id:notification_id>
anywhere notifications:write PUT    /notifications/preferences
anywhere notifications:write POST   /notifications/seen
anywhere notifications:write PATCH  /notifications/mark-all
anywhere notifications:write PATCH  /notifications/<row_id:notification_id>/mark
anywhere notifications:write DELETE /notifications/<row_id:notification_id>
anywhere account:read        GET    /own/anywhere
account  audit:read          GET    /account/events
account  workspaces:read     GET    /workspaces
account  profiles:read       GET    /profiles
account  profiles:read       GET    /profiles/<account_id:account_id>
account  profiles:write      POST   /profiles 409
account  profiles:write      PUT    /profiles
account  profiles:write      DELETE /profiles
account  profiles:write      PUT    /profiles/avatar 422
admin    profiles:write      PUT    /profiles/<account_id:account_id>
account  account:read        GET    /own/account
admin    accounts:read       GET    /admin/accounts/
admin    accounts:read       GET    /admin/accounts/<account_id:account_id>
admin    accounts:read       GET    /admin/accounts/<account_id:account_id>/deliveries
admin    accounts:read       GET    /admin/accounts/<account_id:account_id>/memberships
admin    accounts:write      POST   /admin/accounts/ 409
admin    accounts:write      PATCH  /admin/accounts/<account_id:account_id>
admin    audit:read          GET    /admin/accounts/<account_id:account_id>/events
admin    audit:read          GET    /admin/events
admin    audit:read          GET    /admin/events.jsonl
admin    notifications:send  POST   /admin/notifications/ 201
admin    notifications:send  POST   /admin/notifications/reach
admin    notifications:send  GET    /admin/notifications/all
admin    notifications:send  GET    /admin/notifications/<row_id:notification_id>
admin    notifications:send  GET    /admin/notifications/<row_id:notification_id>/deliveries
admin    notifications:send  POST   /admin/notifications/<row_id:notification_id>/retry
admin    notifications:send  DELETE /admin/notifications/<row_id:notification_id>
admin    account:read        GET    /own/admin
member   profiles:read       GET    /<workspace_slug>/profiles
member   profiles:read       GET    /<workspace_slug>/profiles/<account_id:account_id>
member   profiles:write      POST   /<workspace_slug>/profiles 409
member   profiles:write      PUT    /<workspace_slug>/profiles
member   profiles:write      DELETE /<workspace_slug>/profiles
member   profiles:write      PUT    /<workspace_slug>/profiles/avatar 422
manager  profiles:write      PUT    /<workspace_slug>/profiles/<account_id:account_id>
member   workspaces:read     GET    /workspaces/<workspace_slug>
member   members:read        GET    /workspaces/<workspace_slug>/members
manager  members:write       PATCH  /workspaces/<workspace_slug>/members/<account_id:account_id>
manager  members:write       DELETE /workspaces/<workspace_slug>/members/<account_id:account_id>
manager  audit:read          GET    /workspaces/<workspace_slug>/events
member   account:read        GET    /own/<workspace_slug>
inviter  members:write       POST   /workspaces/<workspace_slug>/members
inviter  members:read        GET    /workspaces/<workspace_slug>/invitations
inviter  members:write       POST   /workspaces/<workspace_slug>/invitations 201
inviter  members:write       POST   /workspaces/<workspace_slug>/invitations/<row_id:invitation_id>/resend
inviter  members:write       DELETE /workspaces/<workspace_slug>/invitations/<row_id:invitation_id>
"""  # noqa: E501
ROUTES = {
    f"{method} {path}": ScopedRoute(kind, scope, *status)
    for kind, scope, method, path, *status in map(str.split, _TABLE.split("\n")[1:-1])
}


def expected_response(route: str, caller: str) -> str:
    """Return the expected response of a route that reads a credential."""
    if caller in INVALID:
        return INVALID[caller]
    found = ROUTES.get(route)
    response = RESPONSES[found.kind if found else "closed"][CALLERS.index(caller)]
    return found.status if found and response == OK else response
