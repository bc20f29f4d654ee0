"""Addresses of the whole service where nothing is: somebody at a browser is told by a page, and who
comes to the API, or is a program, by a problem document."""

from __future__ import annotations

from flask import Response, request
from werkzeug.exceptions import HTTPException

from ..core.context import find_context
from ..core.web.problems import handle_http_exception
from .blueprint import dress
from .errors import answer_http_exception


def answer_elsewhere(error: HTTPException) -> Response:
    prefix = find_context().settings.core.API_V1_STR
    is_of_api = f"{request.path}/".startswith(f"{prefix}/")
    if is_of_api or "text/html" not in request.headers.get("Accept", ""):
        return handle_http_exception(error)
    return dress(answer_http_exception(error))
