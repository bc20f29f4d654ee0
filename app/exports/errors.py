from __future__ import annotations

from ..core.errors import Conflict, Forbidden, NotFound, TooManyRequests


class ExportsOff(Forbidden):
    code = "exports_off"
    detail = "Copies of what is held of an account are not made here"
    security_event = ""


class ExportNotFound(NotFound):
    code = "export_not_found"
    detail = "Export not found"


class ExportNotReady(Conflict):
    """It is still being made, or could not be."""

    code = "export_not_ready"
    detail = "The export is not ready"


class TooManyExports(TooManyRequests):
    code = "too_many_exports"
    detail = "There is an export of today"
