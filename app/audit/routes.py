from flask import Response, stream_with_context

from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import active_account_required, roles_required
from ..auth.scopes import AUDIT_READ, scope
from ..core.context import service
from ..core.web.blueprint import Blueprint
from ..core.web.operation import example
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import schemas
from .schemas import EntryFilter, EntryPage, EntryQuery, RecordRead
from .service import AuditLog

JSON_LINES = "application/jsonl"

blueprint = Blueprint("events", __name__, needs=Accounts, about="The audit log")


@blueprint.get("/admin/events")
@active_account_required
@roles_required("admin", "root")
@scope(AUDIT_READ)
@example(answer=[schemas.OF_ANYBODY])
@takes(query=EntryQuery)
@reads_replica
@answers(200, RecordRead, sliced=True, ready=True)
def list_events(query: EntryQuery.Input) -> Slice:
    """List audit log entries, the newest first"""
    return service(AuditLog).page(query, query)


@blueprint.get("/admin/events.jsonl")
@active_account_required
@roles_required("admin", "root")
@scope(AUDIT_READ)
@takes(query=EntryFilter)
@answers(200, None, media=[JSON_LINES], description="JSON lines, one event on each line")
def export_entries(query: EntryFilter.Input) -> Response:
    """Export audit log entries, the oldest first

    To continue an export, set `since` to the `at` of the last event and skip known `id`s.
    """
    lines = service(AuditLog).export(query)
    return Response(stream_with_context(lines), mimetype=JSON_LINES)


@blueprint.get("/account/events")
@active_account_required
@scope(AUDIT_READ)
@example(answer=[schemas.OF_ONESELF])
@takes(query=EntryPage)
@reads_replica
@answers(200, RecordRead, sliced=True, ready=True)
def list_own_events(query: EntryPage.Input) -> Slice:
    """List the audit log of the caller's account for the last 90 days, the newest first"""
    return service(AuditLog).of_account(caller().account.id, query)
