"""What surrounds every answer of ours: the request's id, security headers, CORS.

Hung on the application once by `init_app`; in a host's application it touches only the routes that
come from here. It runs on every request, so it does little.
"""

from __future__ import annotations

import os
import re
import secrets
from itertools import count
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from ..desk import Desk
from .problems import handle_http_exception

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
# With the process and a count it is unique, and costs no system call for random bytes.
_START = secrets.token_hex(6)
_COUNTER = count(1)
_ID_KEY = "frontdesk.request_id"
_OURS_KEY = "frontdesk.ours"

_METHODS = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
_REQUEST_HEADERS = "Authorization, Content-Type, X-Workspace, X-Owner, X-Request-ID"
_SECURITY = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
]
# An answer that is data needs nothing from anywhere; pages bring a policy of their own.
_POLICY = "default-src 'none'; frame-ancestors 'none'"
_HSTS = "max-age=31536000"


def request_id() -> str:
    """The caller's id where it sends a sane one, else a new one; the same for the whole request."""
    found: str | None = request.environ.get(_ID_KEY)
    if found is None:
        sent = request.environ.get("HTTP_X_REQUEST_ID", "")
        found = sent if _SANE_ID.fullmatch(sent) else f"{_START}-{os.getpid():x}-{next(_COUNTER):x}"
        request.environ[_ID_KEY] = found
    return found


def wrap(app: Flask, desk: Desk) -> None:
    core = desk.settings.core
    origins = {_origin(url) for url in (core.CLIENT_HOST, *core.CORS_ORIGINS)}

    def put(name: str, value: str, headers: Headers) -> None:
        # A host may have set its own. In the service nobody has: `add` looks for none.
        if desk.owns_application:
            headers.add(name, value)
        else:
            headers.setdefault(name, value)

    def is_ours() -> bool:
        return (
            desk.owns_application
            or request.blueprint in desk.blueprints
            or _OURS_KEY in request.environ
        )

    @app.before_request
    def answer_wrong_methods() -> Response | None:
        """A wrong method on one of our paths never reaches our blueprint's handlers by itself."""
        error = request.routing_exception
        if isinstance(error, NotFound):
            error = _with_slash(app)
        if isinstance(error, MethodNotAllowed) and _is_path_of(app, desk, error):
            request.environ[_OURS_KEY] = True
            return handle_http_exception(error)
        return None

    @app.after_request
    def dress(response: Response) -> Response:
        return _dressed(response) if is_ours() else response

    def _dressed(response: Response) -> Response:
        headers = response.headers
        put("X-Request-ID", request_id(), headers)
        for name, value in _SECURITY:
            put(name, value, headers)
        if "Content-Security-Policy" not in headers:
            headers.add("Content-Security-Policy", _POLICY)
        if request.environ.get("wsgi.url_scheme") == "https":
            headers.setdefault("Strict-Transport-Security", _HSTS)
        origin = request.environ.get("HTTP_ORIGIN")
        if origin is not None:
            response.vary.add("Origin")
            if origin in origins:
                _allow(response, origin)
        return response


def _allow(response: Response, origin: str) -> None:
    headers = response.headers
    headers["Access-Control-Allow-Origin"] = origin
    # The sign-in through a provider keeps its state in a cookie.
    headers["Access-Control-Allow-Credentials"] = "true"
    headers["Access-Control-Expose-Headers"] = "X-Request-ID, Retry-After"
    if request.method == "OPTIONS":
        headers["Access-Control-Allow-Methods"] = _METHODS
        headers["Access-Control-Allow-Headers"] = _REQUEST_HEADERS
        headers["Access-Control-Max-Age"] = "600"


def _with_slash(app: Flask) -> MethodNotAllowed | None:
    """Werkzeug finds nothing where a collection is asked by a wrong method and without its slash.

    The right methods it does find there, and they are what the answer names.
    """
    adapter = app.create_url_adapter(request)
    if adapter is None or request.path.endswith("/"):
        return None
    methods = sorted(adapter.allowed_methods(f"{request.path}/"))
    return MethodNotAllowed(methods) if methods else None


def _is_path_of(app: Flask, desk: Desk, error: MethodNotAllowed) -> bool:
    adapter = app.create_url_adapter(request)
    if adapter is None:
        return False
    for method in error.valid_methods or ():
        try:
            endpoint, _ = adapter.match(method=method)
        except HTTPException:
            return False  # a host's route, which redirects to the path with its slash
        return str(endpoint).rpartition(".")[0] in desk.blueprints
    return False


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
