"""What happened in a workspace, for those who manage it."""

from __future__ import annotations

from flask import Response, request

from ...audit.service import Records
from ...auth.guards import active_account_required
from ...core.context import service
from ...core.errors import Invalid
from ...core.web.operation import hidden
from ...workspaces.guards import (
    active_member_required,
    current_workspace,
    workspace_roles_required,
)
from ...workspaces.routes import IN_PATH
from ...workspaces.rules import MANAGERS
from ..ways import to
from .deeds import told
from .room import room_page

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
        # Whoever has written the address by hand begins in front.
        after = None
        found = records.of_workspace(current_workspace.id, after, PER_PAGE)
    own = ".workspace_activity_page"
    return room_page(
        "activity.html",
        "activity",
        deeds=told(found.rows),
        newest=to(own, workspace_slug=workspace_slug) if after else None,
        older=to(own, workspace_slug=workspace_slug, after=found.after) if found.after else None,
    )
