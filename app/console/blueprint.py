"""The console's blueprint: its services, routes, error pages, headers, and emailed links."""

import gzip

from flask import Response, request, url_for
from flask.sansio.app import App
from werkzeug.exceptions import HTTPException, InternalServerError, NotFound

from ..auth.settings import AuthSettings
from ..core.context import EXTENSION, Context, WhenServing, service
from ..core.errors import Problem, SetupError
from ..core.types import SignalOptions
from ..core.web.blueprint import Blueprint, LazyView
from ..core.web.operation import SAFE_METHODS
from ..core.web.pages import StartPage, protect_page
from ..core.web.paging import own_path
from ..delivery.mail.brand import BrandSettings
from ..extension.console_pages import HostConsole, PageRenderer
from ..notifications.settings import NotificationsSettings
from .resources import ELSEWHERE, ConsoleResources
from .routes import ROUTES

# Nothing inline, and nothing from other sites but the brand's images. `blob:` is for a picture
# before its upload, frames show emails. The policy of the first page applies to all pages that htmx
# swaps into it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)


def policy(brand: BrandSettings) -> str:
    """Return the policy of pages, with the sites of the brand's images."""
    return POLICY.replace(" blob:", " ".join([" blob:", *sorted(brand.image_origins)]))


# Each of 1,000 selected accounts is a part of a form that also uploads a file.
MAX_FORM_PARTS = 2_000
# The pages that begin and finish a sign-in through a provider.
PROVIDER, CALLBACK = "/sign-in/provider/<provider>", "/sign-in/provider/<provider>/callback"
# Compression saves no packets for shorter pages.
MIN_COMPRESSED_SIZE = 1000


def lazy_view(reference: str) -> LazyView:
    """Return the view of a module of this package, such as `owner.inbox.dashboard`."""
    return LazyView(reference, __package__)


class Console(Blueprint):
    def register(self, app: App, options: SignalOptions) -> None:
        super().register(app, options)
        context = app.extensions[EXTENSION]
        add_host_pages(app, context.get(HostConsole), self.name, options)
        add_email_paths(app, context, self.name, options)
        add_callbacks(context, options)
        name = f"{options.get('name_prefix', '')}.{options.get('name', self.name)}".lstrip(".")
        context.contribute(
            StartPage(
                lambda: context.get(ConsoleResources).brand.NAME,
                lambda: url_for(f"{name}.home"),
                "Back to the console",
            )
        )


def assemble(context: Context) -> None:
    if context.settings.of(AuthSettings).COOKIE_SESSIONS == "off":
        raise SetupError(
            "The console needs cookie sessions: set AUTH.COOKIE_SESSIONS to `on`, or to `alone`"
            " if only its pages use cookies."
        )
    context.add(ConsoleResources(context, _hidden_pages(context.get(HostConsole))))
    renderer = PageRenderer(lazy_view("pages.render_template_page"), lazy_view("links.redirect_to"))
    context.contribute(WhenServing(lambda: _log_missing_root(context)), renderer)


def _hidden_pages(console: HostConsole) -> set[str]:
    if not console.hidden:
        return set()
    # Imported here, because most applications hide nothing.
    from .navigation import hidden_pages

    return hidden_pages(console.hidden)


def _log_missing_root(context: Context) -> None:
    # Imported here, because commands and tests never serve.
    from .first_run.startup import start_logging_thread

    start_logging_thread(context.app)


blueprint = Console(
    "console", __name__, assemble=assemble, about="Pages in a browser", has_pages=True
)
for method, rule, reference in ROUTES:
    view = lazy_view(reference)
    if rule in (PROVIDER, CALLBACK):
        # The provider `default` has paths without its name.
        short, default = rule.replace("/<provider>", ""), {"provider": "default"}
        blueprint.add_url_rule(short, view_func=view, methods=[method], defaults=default)
    blueprint.add_url_rule(rule, view_func=view, methods=[method])
for kind, name in (
    (Problem, "handle_problem"),
    (HTTPException, "show_http_exception"),
    (InternalServerError, "handle_exception"),
    (Exception, "handle_exception"),
):
    blueprint.register_error_handler(kind, lazy_view(f"errors.{name}"))


@blueprint.before_request
def reject_cross_site_requests() -> None:
    """Reject forms of other sites, also on public routes, which can send an email to a user."""
    if request.method not in SAFE_METHODS:
        # Imported here, because a process may never render a page.
        from ..auth.sessions.cookie_sessions import CookieSessions

        service(CookieSessions).cross_site.check(request)


@blueprint.before_request
def reject_pages_of_other_blueprints() -> None:
    """Respond 404 to a page or form without its blueprint or identity provider."""
    if not service(ConsoleResources).features.has(request.endpoint or ""):
        raise NotFound


@blueprint.before_request
def drop_empty_parameters() -> Response | None:
    """Redirect a search form that was sent without scripts to its URL without empty fields."""
    query = request.query_string.decode(errors="replace")
    filled = "&".join(each for each in query.split("&") if each.partition("=")[1:] != ("=", ""))
    if filled == query or request.method != "GET" or "HX-Request" in request.headers:
        return None
    # Imported here, because a process may never render a page.
    from .links import redirect

    return redirect(f"{own_path()}?{filled}".rstrip("?"))


@blueprint.before_request
def allow_long_selections() -> None:
    request.max_form_parts = MAX_FORM_PARTS


@blueprint.before_request
def restore_kept_form() -> None:
    """Fill in a form that was sent after the session had ended, once the user is signed in."""
    # Imported here, because a process may never render a page.
    from .cookies import KEPT_FORM, read_cookie

    if read_cookie(KEPT_FORM):
        from .kept_forms import restore_form

        restore_form()


@blueprint.after_request
def add_page_headers(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Content-Security-Policy", policy(service(ConsoleResources).brand))
    if request.method not in SAFE_METHODS:
        # The response to a form cannot be reloaded: the browser keeps the URL of the form's page.
        headers.setdefault("HX-Push-Url", "false")
    protect_page(response)
    if response.mimetype == "text/html":
        response.vary.add("HX-Request")
        _compress(response)
    return response


def _compress(response: Response) -> None:
    """Compress a page; no page combines a secret with text that an attacker can choose."""
    body = response.get_data()
    if len(body) < MIN_COMPRESSED_SIZE or "Content-Encoding" in response.headers:
        return
    response.vary.add("Accept-Encoding")
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response.set_data(gzip.compress(body, 8))
        response.headers["Content-Encoding"] = "gzip"


def add_host_pages(app: App, console: HostConsole, name: str, options: SignalOptions) -> None:
    """Add the application's own pages, with the console's error pages, headers and checks."""
    for page in console.pages:
        endpoint = f"{options.get('name', name)}.{page.name}"
        if endpoint in app.view_functions:
            raise SetupError(f"The console already has a page '{page.name}': choose another name.")
        app.add_url_rule(
            f"{_prefix(options)}{page.path}",
            endpoint,
            page.view,
            methods=list(page.methods),
            strict_slashes=False,
        )
    if console.home and f"{options.get('name', name)}{console.home}" not in app.view_functions:
        raise SetupError(f"frontdesk.console.home: the console has no page {console.home!r}.")


# The pages of emailed links, by the setting with the path of the link.
_EMAIL_PAGES = {
    "PASSWORD_RECOVERY_PATH": ("/forgot", "visitor.recovery.forgot_page"),
    "PASSWORD_RESET_PATH": ("/reset", "visitor.recovery.reset_page"),
    "SIGN_IN_LINK_PATH": ("/sign-in/link", "visitor.sign_in.sign_in_link_page"),
    "VERIFICATION_PATH": ("/verify", "visitor.register.verify_page"),
    "EMAIL_CHANGE_PATH": ("/confirm-email", "visitor.email_links.confirm_email_page"),
    "EMAIL_UNDO_PATH": ("/undo-email", "visitor.email_links.undo_email_page"),
    "ACCOUNT_RESTORE_PATH": ("/keep-account", "visitor.email_links.keep_account_page"),
    "PREFERENCES_PATH": ("/account/notifications", "owner.preferences.preferences_page"),
    "UNSUBSCRIBE_PATH": ("/unsubscribe", "visitor.unsubscribe.unsubscribe_page"),
}


def add_email_paths(app: App, context: Context, name: str, options: SignalOptions) -> None:
    """Add the pages of emailed links at the paths in the settings, if these differ.

    In an application only paths below the console's own are added; the others belong to it.
    """
    prefix, settings = _prefix(options), context.settings
    spaces = [settings.of(AuthSettings), settings.of(NotificationsSettings)]
    for setting, (own, reference) in _EMAIL_PAGES.items():
        [path] = [getattr(space, setting) for space in spaces if hasattr(space, setting)]
        view = lazy_view(reference)
        endpoint = f"{options.get('name', name)}.{view.__name__}{ELSEWHERE}"
        # The path of links with and without `CORE__CLIENT_HOST`.
        for address in dict.fromkeys((path, f"{prefix}{path}")):
            is_free = context.owns_application or address.startswith(f"{prefix}/")
            if is_free and address != f"{prefix}{own}":
                app.add_url_rule(address, endpoint, view, methods=["GET"])


def add_callbacks(context: Context, options: SignalOptions) -> None:
    """Allow the console's own redirect URIs for the identity providers."""
    url = context.settings.core.PUBLIC_URL
    if url is None or not context.settings.of(AuthSettings).has_providers:
        return
    from ..auth.idp.provider import RedirectUris
    from ..auth.idp.providers import Providers

    if not context.has(Providers):
        return
    for provider in context.get(Providers).values():
        name = "" if provider.is_default else f"/{provider.name}"
        path = CALLBACK.replace("/<provider>", name)
        context.get(RedirectUris).allow(f"{url}{_prefix(options)}{path}")


def _prefix(options: SignalOptions) -> str:
    return str(options.get("url_prefix") or "").rstrip("/")
