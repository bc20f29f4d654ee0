"""The console's blueprint: its services, routes, error pages, headers, and emailed links."""

import gzip
from functools import cached_property
from importlib import import_module
from typing import Any

from flask import Response, request
from flask.sansio.app import App
from werkzeug.exceptions import HTTPException, InternalServerError

from ..administration.assembly import assemble as administration
from ..auth.settings import AuthSettings
from ..core.context import EXTENSION, Context, service
from ..core.errors import Problem, SetupError
from ..core.types import SignalOptions
from ..core.web.blueprint import Blueprint
from ..core.web.operation import SAFE_METHODS, Operation, View, operation
from ..core.web.pages import protect_page
from .desk import Desk
from .host_pages import HostConsole, add_host_pages
from .routes import ROUTES

# Nothing inline and nothing from anywhere else; `blob:` is a picture before it is sent. Frames hold
# mails: the policy of the page that came first holds for all that are swapped into it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
# Shorter ones do not fit into fewer packets for it.
COMPRESSED_FROM = 1000


class LazyView:
    """A view that is loaded by its first request: pages are many, and most processes show few."""

    def __init__(self, reference: str) -> None:
        """`owner.inbox.dashboard`: a module of this package, and a function in it."""
        self.module, _, self.__name__ = reference.rpartition(".")

    def __call__(self, *args: object, **values: object) -> Any:
        return self.view(*args, **values)

    @cached_property
    def view(self) -> View:
        found: View = getattr(import_module(f".{self.module}", __package__), self.__name__)
        return found

    @property
    def _frontdesk_operation(self) -> Operation:
        """What tests and documents ask of every view."""
        return operation(self.view)


class Console(Blueprint):
    def register(self, app: App, options: SignalOptions) -> None:
        super().register(app, options)
        context = app.extensions[EXTENSION]
        add_host_pages(app, context.get(HostConsole), self.name, options)
        add_mail_paths(app, context, self.name, options)
        add_callback(context, options)


def assemble(context: Context) -> None:
    if context.settings.of(AuthSettings).COOKIE_SESSIONS == "off":
        raise SetupError(
            "The console signs in by a cookie: set AUTH.COOKIE_SESSIONS to `on`, or to `alone`"
            " where its pages alone do."
        )
    if context.tables.account_model is not None:
        # The pages need its services also where an application does not mount its blueprint.
        administration(context)
    context.add(Desk(context))
    context.contributions.when_serving.append(lambda: _tell_of_first_root(context))


def _tell_of_first_root(context: Context) -> None:
    # Here and not above: commands and tests never serve.
    from .first_run.telling import tell_beside

    tell_beside(context.app)


blueprint = Console(
    "console", __name__, assemble=assemble, about="Pages in a browser", has_pages=True
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
        from ..auth.sessions.cookie_sessions import CookieSessions

        service(CookieSessions).cross_site.check(request)


@blueprint.after_request
def dress(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Content-Security-Policy", POLICY)
    if request.method not in SAFE_METHODS:
        # A page that answers a form has no address of its own: the one it was on can be loaded
        # again, and this one cannot.
        headers.setdefault("HX-Push-Url", "false")
    protect_page(response)
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


# By the setting that has the path which the mail's link leads to.
_PAGES = {
    "PASSWORD_RECOVERY_PATH": ("/forgot", "visitor.recovery.forgot_page"),
    "PASSWORD_RESET_PATH": ("/reset", "visitor.recovery.reset_page"),
    "VERIFICATION_PATH": ("/verify", "visitor.register.verify_page"),
    "EMAIL_CHANGE_PATH": ("/confirm-email", "visitor.mailed_links.confirm_email_page"),
    "EMAIL_UNDO_PATH": ("/undo-email", "visitor.mailed_links.undo_email_page"),
    "ACCOUNT_RESTORE_PATH": ("/keep-account", "visitor.mailed_links.keep_account_page"),
}
_CALLBACK = "/sign-in/provider/callback"


def add_mail_paths(app: App, context: Context, name: str, options: SignalOptions) -> None:
    """Where the settings have another path than the page: the same page there too. In a host's
    application only under the console's own address, for all others are the host's."""
    auth, prefix = context.settings.of(AuthSettings), _prefix(options)
    for setting, (own, reference) in _PAGES.items():
        path, view = getattr(auth, setting), LazyView(reference)
        endpoint = f"{options.get('name', name)}.{view.__name__}_elsewhere"
        # As a mail links to it with a client named, and without.
        for address in dict.fromkeys((path, f"{prefix}{path}")):
            is_free = context.owns_application or address.startswith(f"{prefix}/")
            if is_free and address != f"{prefix}{own}":
                app.add_url_rule(address, endpoint, view, methods=["GET"])


def add_callback(context: Context, options: SignalOptions) -> None:
    """An identity provider may lead back to our own page."""
    from ..auth.idp.redirects import RedirectUris

    url = context.settings.core.PUBLIC_URL
    if url is not None and context.has(RedirectUris):
        context.get(RedirectUris).allow(f"{url}{_prefix(options)}{_CALLBACK}")


def _prefix(options: SignalOptions) -> str:
    return str(options.get("url_prefix") or "").rstrip("/")
