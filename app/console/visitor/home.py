"""The console's own address."""

from __future__ import annotations

from flask import Response

from ...core.web.operation import anyone, hidden
from ..first_run.greeting import greeting, is_greeted
from ..pages import somebody_is_in
from ..ways import go


@anyone
@hidden
def home() -> Response:
    if somebody_is_in():
        return go(".dashboard")
    return greeting() if is_greeted() else go(".sign_in_page")
