from ..core.errors import REJECTED, Conflict, Forbidden, NotFound, TooManyRequests, Unauthorized


class NoWorkspace(NotFound):
    code = "no_workspace"
    detail = "No workspace specified."
    title = "The request names no workspace"
    cause = "The request has no workspace slug, or the account has no current workspace."
    fix = (
        "Send the slug in the path or in the header `X-Workspace`, or set a current workspace"
        " with `PUT /workspaces/current`."
    )


class WorkspaceNotFound(NotFound):
    code = "workspace_not_found"
    detail = "Workspace not found"
    title = "The workspace does not exist"
    cause = "No workspace has this slug."
    fix = "List your workspaces with `GET /workspaces`."


class NotAMember(Forbidden):
    code = "not_a_member"
    detail = "User not found in specified workspace"
    title = "The account is not a member of the workspace"
    cause = "The account is not a member of the workspace in the request."
    fix = "Ask an owner or admin of the workspace for an invitation."


class MemberInactive(Unauthorized):
    code = "member_inactive"
    detail = "User is not active"
    title = "The membership is not active"
    cause = "The status of the account's membership in the workspace is not `active`."
    fix = "Ask an owner or admin of the workspace to activate the membership."
    reason = REJECTED


class MemberNotFound(NotFound):
    code = "member_not_found"
    detail = "Member not found"
    title = "The member does not exist"
    cause = "The workspace has no member with this account id."
    fix = "List the members with `GET /workspaces/{workspace_slug}/members`."


class AlreadyAMember(Conflict):
    code = "already_a_member"
    detail = "Already a member of this workspace"
    title = "The account is already a member"
    cause = "The account is a member of the workspace already."
    fix = "Change the existing membership instead."


class SlugTaken(Conflict):
    code = "slug_taken"
    detail = "A workspace with this slug already exists"
    title = "The workspace slug is in use"
    cause = "Another workspace has this slug, or the slug is reserved."
    fix = "Choose another slug."


class TooManyWorkspaces(TooManyRequests):
    code = "too_many_workspaces"
    detail = "Too many new workspaces"
    title = "Too many new workspaces"
    cause = (
        "The account created more workspaces in a day than `WORKSPACES__CREATED_PER_DAY` allows."
    )
    fix = "Wait for the number of seconds in `Retry-After`."


class LastOwner(Conflict):
    code = "last_owner"
    detail = "A workspace needs an active owner"
    title = "The workspace needs an active owner"
    cause = "The request would leave the workspace without an active owner."
    fix = "Make another member an owner first."
