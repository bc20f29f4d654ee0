"""What keeps an account its owner's, at a glance."""

from __future__ import annotations

from flask import Response

from ...auth.caller import caller
from ...auth.guards import active_account_required
from ...core.web.operation import hidden
from ..pages import page
from .security_glance import glance_at


@active_account_required
@hidden
def security_page() -> Response:
    return page("owner/security/overview.html", glance=glance_at(caller()))
