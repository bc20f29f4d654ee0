"""Who sees the pages of administration; their forms ask what the API's routes ask."""

from __future__ import annotations

from ...auth.guards import active_account_required, roles_required
from ...core.web.operation import View, hidden
from ..navigation import ADMINS


def admins_only(view: View) -> View:
    return roles_required(*ADMINS)(active_account_required(hidden(view)))
