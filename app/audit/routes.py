from __future__ import annotations

from flask import Response, stream_with_context

from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import active_account_required, roles_required
from ..core.context import service
from ..core.types import Loaded
from ..core.web.blueprint import Blueprint
from ..core.web.operation import example
from ..core.web.paging import Slice
from ..core.web.request_data import takes
from ..core.web.responses import answers
from ..workspaces.guards import (
    active_member_required,
    current_workspace,
    workspace_roles_required,
)
from ..workspaces.models import MANAGERS
from ..workspaces.routes import IN_PATH, slug_in_path
from . import schemas
from .schemas import RecordFilter, RecordPage, RecordQuery, RecordRead, WorkspaceRecordRead
from .service import Records

LINES = "application/jsonl"

blueprint = Blueprint("events", __name__, needs=Accounts, about="Who did what")


@blueprint.get("/admin/events")
@active_account_required
@roles_required("admin", "root")
@example(answer=[schemas.OF_ANYBODY])
@takes(query=RecordQuery)
@answers(200, RecordRead, sliced=True, ready=True)
def list_events(query: Loaded) -> Slice:
    """List who did what, the newest first"""
    after, limit = query.pop("after"), query.pop("limit")
    return service(Records).page(query, after, limit)


@blueprint.get("/admin/events.jsonl")
@active_account_required
@roles_required("admin", "root")
@takes(query=RecordFilter)
@answers(200, None, media=[LINES], description="An event on each line")
def export_events(query: Loaded) -> Response:
    """Get all of them, the oldest first

    Who comes again goes on with `since`, the `at` of the last one; what comes twice has its `id`.
    """
    lines = service(Records).lines(query)
    return Response(stream_with_context(lines), mimetype=LINES)


@blueprint.get("/workspaces/<workspace_slug>/events")
@slug_in_path
@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(*MANAGERS, resolver=IN_PATH)
@example(answer=[schemas.OF_A_WORKSPACE])
@takes(query=RecordPage)
@answers(200, WorkspaceRecordRead, sliced=True, ready=True)
def list_workspace_events(workspace_slug: str, query: Loaded) -> Slice:
    """List who did what in a workspace, the newest first"""
    return service(Records).of_workspace(current_workspace.id, **query)


@blueprint.get("/account/events")
@active_account_required
@example(answer=[schemas.OF_ONESELF])
@takes(query=RecordPage)
@answers(200, RecordRead, sliced=True, ready=True)
def list_own_events(query: Loaded) -> Slice:
    """List what happened to the caller's account in the last 90 days, the newest first"""
    return service(Records).of_oneself(caller().account.id, **query)
