"""The console's own address."""

from __future__ import annotations

from flask import Response

from ...core.web.operation import anyone, hidden
from ..pages import somebody_is_in
from ..ways import go


@anyone
@hidden
def home() -> Response:
    return go(".dashboard" if somebody_is_in() else ".sign_in_page")
