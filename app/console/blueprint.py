"""The console's blueprint: pages in a browser, where errors are pages too."""

from __future__ import annotations

import gzip
from typing import Any

from flask import Response, request
from flask.sansio.app import App
from werkzeug.exceptions import HTTPException, InternalServerError

from ..core.context import EXTENSION, service
from ..core.errors import Problem
from ..core.web.blueprint import Blueprint
from ..core.web.operation import SAFE_METHODS
from .assembly import assemble
from .host_pages import HostConsole, add_host_pages
from .lazy import LazyView
from .mail_paths import add_callback, add_mail_paths
from .policy import POLICY
from .routes import ROUTES

# Shorter ones do not fit into fewer packets for it.
COMPRESSED_FROM = 1000


class Console(Blueprint):
    def register(self, app: App, options: dict[str, Any]) -> None:
        super().register(app, options)
        context = app.extensions[EXTENSION]
        add_host_pages(app, context.get(HostConsole), self.name, options)
        add_mail_paths(app, context, self.name, options)
        add_callback(context, options)


blueprint = Console(
    "console",
    __name__,
    assemble=assemble,
    about="Pages in a browser",
    has_pages=True,
)
for method, rule, reference in ROUTES:
    blueprint.add_url_rule(rule, view_func=LazyView(reference), methods=[method])
for kind, name in (
    (Problem, "answer_problem"),
    (HTTPException, "answer_http_exception"),
    (InternalServerError, "answer_exception"),
    (Exception, "answer_exception"),
):
    blueprint.register_error_handler(kind, LazyView(f"errors.{name}"))


@blueprint.before_request
def refuse_other_sites() -> None:
    """The routes that anyone may use too: another site's page could ask for somebody's mail."""
    if request.method not in SAFE_METHODS:
        # Here and not above: a process may never show a page.
        from ..auth.sessions.cookie_door import CookieDoor

        service(CookieDoor).cross_site.check(request)


@blueprint.after_request
def dress(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Content-Security-Policy", POLICY)
    if request.method not in SAFE_METHODS:
        # A page that answers a form has no address of its own: the one it was on can be loaded
        # again, and this one cannot.
        headers.setdefault("HX-Push-Url", "false")
    if response.mimetype == "text/html":
        response.vary.add("HX-Request")
        _compress(response)
    return response


def _compress(response: Response) -> None:
    """No page holds a secret beside what a stranger could have put into it."""
    body = response.get_data()
    if len(body) < COMPRESSED_FROM or "Content-Encoding" in response.headers:
        return
    response.vary.add("Accept-Encoding")
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response.set_data(gzip.compress(body, 5))
        response.headers["Content-Encoding"] = "gzip"
