"""The page of an emailed link that is no longer valid. Opening a link only reads its token."""

from collections.abc import Callable

from flask import Response, request
from markupsafe import Markup

from ...auth.errors import InvalidProof
from ..links import link_to
from ..pages import render_page
from ..texts import _


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
