from __future__ import annotations

from ..core.errors import Forbidden


class DeletionOff(Forbidden):
    code = "account_deletion_off"
    detail = "Accounts cannot be deleted by their owners here"
    security_event = ""
