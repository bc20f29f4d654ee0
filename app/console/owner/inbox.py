"""The owner's inbox, which the mail of a notification links to."""

from __future__ import annotations

from flask import Response

from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ..actions import look
from ..pages import page


@active_account_required
@hidden
def dashboard() -> Response:
    items = look("notifications.routes.list_inbox", query={"limit": 25})
    return page("owner/inbox.html", items=items)
