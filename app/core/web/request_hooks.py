"""The request hooks of `init_app`: request id, security headers, CORS, and checks of routes.

In an application they affect only Frontdesk's routes. They run on every request, so they are short.
"""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from ..context import Context
from ..errors import FeatureOff, SetupError
from ..request import request_id, unwrap_request
from .blueprint import exempt_from_csrf
from .operation import RequestHeader, RouteCheck, find_misplaced_decorators
from .problems import handle_http_exception

_IS_OURS_KEY = "frontdesk.ours"

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_REQUEST_HEADERS = ("Authorization", "Content-Type", "If-None-Match", "Prefer", "X-Request-ID")
# Browser libraries for tracing and error reporting add these to every request.
_TRACING_HEADERS = ("traceparent", "tracestate", "baggage")
_RESPONSE_HEADERS = "ETag, Link, Retry-After, WWW-Authenticate, X-Request-ID, X-Total-Count"
SECURITY_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
]
# A response with data may load nothing; pages set a separate policy.
DATA_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
_HSTS = "max-age=31536000"
_PREFLIGHT = "HTTP_ACCESS_CONTROL_REQUEST_METHOD"


class DisabledRoutes(NamedTuple):
    """Finds the setting that disables the route of a path, after a 404."""

    find_setting: Callable[[str], str | None]


class RequestHooks:
    """The functions that run before each view and after each response."""

    def __init__(self, app: Flask, context: Context) -> None:
        core = context.settings.core
        self._app = app
        self._context = context
        self._origins = {origin_of(url) for url in (core.CLIENT_HOST, *core.CORS_ORIGINS)}
        self._more_request_headers = (*_TRACING_HEADERS, *core.CORS_HEADERS)
        self._hsts = f"{_HSTS}; includeSubDomains" if core.HSTS_SUBDOMAINS else _HSTS
        self._misplaced: list[str] | None = None
        app.before_request(self._before_view)
        app.after_request(self._after_view)

    def _before_view(self) -> Response | None:
        if self._misplaced is None:
            # Not earlier: all routes and extensions are registered by the first request.
            for each in self._context.contributions(RouteCheck):
                each.check()
            self._misplaced = find_misplaced_decorators(self._app)
            exempt_from_csrf(self._app)
        current = unwrap_request()
        if self._misplaced and current.endpoint in self._misplaced:
            raise SetupError(
                f"A decorator of '{current.endpoint}' is above its route and has no effect:"
                " write the route first and the other decorators below it."
            )
        # Werkzeug ignores additional slashes at the beginning of a path.
        if self._context.owns_application and current.environ["PATH_INFO"].startswith("//"):
            raise NotFound
        error = current.routing_exception
        return None if error is None else self._respond_to(error)

    def _respond_to(self, error: HTTPException) -> Response | None:
        """Handle a wrong method on a path of Frontdesk: it does not reach its error handlers."""
        if isinstance(error, NotFound):
            if self._context.owns_application:
                if _is_preflight():
                    # An error here would hide from the client that the route does not exist.
                    return Response(status=204)
                for routes in self._context.contributions(DisabledRoutes):
                    if setting := routes.find_setting(request.path):
                        raise FeatureOff(note={"setting": setting})
            error = _with_slash(self._app) or error
        if isinstance(error, MethodNotAllowed) and _is_path_of(self._app, self._context, error):
            request.environ[_IS_OURS_KEY] = True
            return handle_http_exception(error)
        return None

    def _after_view(self, response: Response) -> Response:
        current = unwrap_request()
        owns_application = self._context.owns_application
        if not (
            owns_application
            or current.blueprint in self._context.mounted.blueprints
            or _IS_OURS_KEY in current.environ
        ):
            return response
        headers = response.headers
        # An application may have set some of them; in the service no other code does.
        put = headers.add if owns_application else headers.setdefault
        # Looking each name up in the headers would raise an exception for each that is missing.
        named = {name.lower() for name, _ in headers}
        put("X-Request-ID", request_id(current))
        for name, value in SECURITY_HEADERS:
            if name.lower() not in named:
                put(name, value)
        if "content-security-policy" not in named:
            headers.add("Content-Security-Policy", DATA_POLICY)
        if "cache-control" not in named:
            # Most responses are an account's data; a view that allows caching sets the header.
            headers.add("Cache-Control", "no-store")
        if current.environ.get("wsgi.url_scheme") == "https":
            headers.setdefault("Strict-Transport-Security", self._hsts)
        if current.method == "OPTIONS" and "allow" not in named:
            response.allow.update(_allowed_methods(self._app, f"{current.path}/"))
        origin = current.environ.get("HTTP_ORIGIN")
        if origin is not None:
            response.vary.add("Origin")
            # A page's own scripts have an `Origin` header too, and need no permission.
            is_own = current.environ.get("HTTP_SEC_FETCH_SITE") == "same-origin"
            if origin in self._origins and not is_own:
                self._allow_origin(origin, headers)
        return response

    def _allow_origin(self, origin: str, headers: Headers) -> None:
        headers["Access-Control-Allow-Origin"] = origin
        # Sign-in through a provider stores its state in a cookie, and a session can be one.
        headers["Access-Control-Allow-Credentials"] = "true"
        if _is_preflight():
            headers["Access-Control-Allow-Methods"] = _METHODS
            of_features = [each.name for each in self._context.all_contributions(RequestHeader)]
            allowed = (*sorted([*_REQUEST_HEADERS, *of_features]), *self._more_request_headers)
            headers["Access-Control-Allow-Headers"] = ", ".join(allowed)
            headers["Access-Control-Max-Age"] = "600"
        else:
            headers["Access-Control-Expose-Headers"] = _RESPONSE_HEADERS


def _is_preflight() -> bool:
    return request.method == "OPTIONS" and _PREFLIGHT in request.environ


def _with_slash(app: Flask) -> MethodNotAllowed | None:
    """Return a 405 for a collection that is requested with a wrong method and without its slash.

    Werkzeug raises NotFound for it.
    """
    methods = _allowed_methods(app, f"{request.path}/")
    return MethodNotAllowed(methods) if methods else None


def _allowed_methods(app: Flask, path: str) -> list[str]:
    try:
        adapter = app.create_url_adapter(request)
    except HTTPException:
        return []  # an invalid Host header
    return sorted(adapter.allowed_methods(path)) if adapter is not None else []


def _is_path_of(app: Flask, context: Context, error: MethodNotAllowed) -> bool:
    adapter = app.create_url_adapter(request)
    if adapter is None:
        return False
    for method in error.valid_methods or ():
        try:
            endpoint, _ = adapter.match(method=method)
        except HTTPException:
            return False  # the application's route, which redirects to the path with a slash
        return str(endpoint).rpartition(".")[0] in context.mounted.blueprints
    return False


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
