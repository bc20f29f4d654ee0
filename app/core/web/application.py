"""The service's subclass of Flask, and its warnings about proxies."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from werkzeug.routing import Rule

from ..types import JsonObject
from .repeats import RepeatRequest, repeat_request

log = logging.getLogger(__name__)

UNTRUSTED_PROXY = (
    "A request has X-Forwarded-For, which is ignored because CORE.TRUSTED_PROXIES is 0. Behind a"
    " proxy, all clients share its IP address, and wrong passwords of one client lock out others:"
    " set CORE__TRUSTED_PROXIES to the number of proxies."
)
TOO_MANY_PROXIES = (
    "CORE.TRUSTED_PROXIES is {hops}, and a request arrived with {count} values in X-Forwarded-For:"
    " the values are ignored, all clients share the proxy's IP address, and wrong passwords of one"
    " client lock out others. Set CORE__TRUSTED_PROXIES to the number of proxies."
)
# Load balancers and Prometheus request these paths directly, without the header.
_DIRECT_PATHS = ("/health", "/health/ready", "/metrics")


class LazyRule(Rule):
    """Compiles the function that builds a URL when a link to the route is first built.

    Werkzeug compiles two functions for each rule at once, which takes three quarters of the time
    to create the application, and most of them are never used.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)

        def build(rule: Rule, /, **values: object) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build


class LazySessionInterface(SecureCookieSessionInterface):
    """Flask's sessions, opened only if the request has the session cookie.

    Most requests have a bearer token or another cookie, and opening a session takes a tenth of the
    request.
    """

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if self.get_cookie_name(app) not in request.environ.get("HTTP_COOKIE", ""):
            return self.session_class()
        return super().open_session(app, request)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if session or session.accessed or session.modified:
            super().save_session(app, session, response)


class Application(Flask):
    url_rule_class = LazyRule
    session_interface = LazySessionInterface()

    def handle_exception(self, e: Exception) -> Response:
        if isinstance(e, RepeatRequest):
            return repeat_request(self)
        return super().handle_exception(e)


def warn_of_proxies(app: Flask, hops: int) -> None:
    """Log once in each process if CORE.TRUSTED_PROXIES does not fit the proxies in front."""
    inner = app.wsgi_app
    unwarned = [True]

    def check_proxies(environ: JsonObject, start_response: Any) -> Iterable[bytes]:
        if unwarned and (warning := _warning(environ, hops)):
            # If two threads run this at once, the list is empty for the second thread.
            with suppress(IndexError):
                unwarned.pop()
                log.warning("%s", warning)
        return inner(environ, start_response)

    app.wsgi_app = check_proxies  # type: ignore[method-assign]


def _warning(environ: JsonObject, hops: int) -> str | None:
    values = environ.get("HTTP_X_FORWARDED_FOR")
    if not hops:
        return UNTRUSTED_PROXY if values is not None else None
    count = len(values.split(",")) if values else 0
    if count >= hops or environ.get("PATH_INFO", "").endswith(_DIRECT_PATHS):
        return None
    return TOO_MANY_PROXIES.format(hops=hops, count=count)
