from __future__ import annotations

from ..core.errors import Conflict, Forbidden, NotFound, TooManyRequests, Unauthorized


class NoWorkspace(NotFound):
    code = "no_workspace"
    detail = "No workspace specified."


class WorkspaceNotFound(NotFound):
    code = "workspace_not_found"
    detail = "Workspace not found"


class NotAMember(Forbidden):
    code = "not_a_member"
    detail = "User not found in specified workspace"


class MemberInactive(Unauthorized):
    code = "member_inactive"
    detail = "User is not active"


class MemberNotFound(NotFound):
    code = "member_not_found"
    detail = "Member not found"


class AlreadyAMember(Conflict):
    code = "already_a_member"
    detail = "Already a member of this workspace"


class SlugTaken(Conflict):
    code = "slug_taken"
    detail = "A workspace with this slug already exists"


class TooManyWorkspaces(TooManyRequests):
    code = "too_many_workspaces"
    detail = "Too many new workspaces"


class LastOwner(Conflict):
    code = "last_owner"
    detail = "A workspace needs an active owner"
