"""Renders the console's templates, with the variables of every page."""

from collections.abc import Callable

from flask import Response, request
from markupsafe import Markup

from ..accounts.models import AccountLike
from ..auth.caller import find_caller, known_caller
from ..auth.errors import InvalidProof
from ..core.context import service
from ..core.errors import Problem
from ..core.types import JsonObject
from ..extension.console_pages import HostConsole
from .links import delete_notice, link_to, read_notice
from .navigation import navigation
from .resources import ConsoleResources
from .texts import _

# The policy of a framed email: inline styles, no scripts, and no requests.
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def render_page(template: str, *, status: int = 200, at: str = "", **context: object) -> Response:
    """Render a page. `at` is the endpoint of its navigation entry, if that is another page."""
    return render_template_page(f"console/{template}", status=status, at=at, **context)


def render_template_page(
    template: str, *, status: int = 200, at: str = "", **context: object
) -> Response:
    """Render a page from any template, such as one of the application."""
    resources = service(ConsoleResources)
    text = _render(resources, template, **_page_context(resources, at), **context)
    return delete_notice(Response(text, status, mimetype="text/html"))


def render_account_panel(title: str, account: AccountLike) -> str:
    """Return the content of one of the application's panels for an account."""
    content = service(HostConsole).panels[title](account)
    if isinstance(content, str):
        return content
    template, values = content
    context = {"me": _current_account(), "account": account, **values}
    # A template escapes its variables.
    return Markup(_render(service(ConsoleResources), template, **context))  # noqa: S704


def render_framed(html: str) -> Response:
    """Return the HTML of an email for a frame of a page."""
    headers = {"Content-Security-Policy": FRAME_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return Response(html, mimetype="text/html", headers=headers)


def render_fragment(template: str, **context: object) -> Response:
    """Render a part of a page for a script, without the variables of the layout."""
    resources = service(ConsoleResources)
    text = _render(resources, f"console/{template}", me=_current_account(), **context)
    return Response(text, mimetype="text/html")


def _page_context(resources: ConsoleResources, at: str) -> JsonObject:
    me = _current_account()
    my = None if me is None else resources.people.by_account(me)
    return {"me": me, "my": my, "nav": navigation(at), "notice": read_notice()}


def _current_account() -> AccountLike | None:
    caller = known_caller()
    return None if caller is None else caller.account


def _render(resources: ConsoleResources, template: str, **context: object) -> str:
    loaded = resources.templates.get_template(template)
    return loaded.render(on=resources.features, brand=resources.brand, **context)


def is_signed_in() -> bool:
    """Return whether the request has a valid session, for pages that need none."""
    try:
        return find_caller() is not None
    except Problem:
        return False


def is_expired(read: Callable[[str], object], token: str | None = None) -> bool:
    """Return whether `read` rejects the token, by default that of the link that the request opens.

    A rejected form shows its error on the page instead.
    """
    token = request.args.get("token", "") if token is None else token
    if request.method == "POST" or not token:
        return False
    try:
        read(token)
    except InvalidProof:
        return True
    return False


def expired_link_page(
    text: Markup, label: Markup | None = None, endpoint: str = "", title: Markup | None = None
) -> Response:
    return render_page(
        "visitor/link_expired.html",
        title=title or _("This link has expired"),
        text=text,
        label=label or _("Go to sign-in"),
        address=link_to(endpoint or ".sign_in_page"),
    )
