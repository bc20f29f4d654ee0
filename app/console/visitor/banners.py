"""Dismiss a banner, with and without an account."""

from contextlib import suppress

from flask import Response

from ...auth.caller import find_caller
from ...auth.decorators import account_optional
from ...banners.errors import BannerNotDismissible, BannerNotFound
from ...banners.service import Banners
from ...core.context import service
from ..api_calls import console_form
from ..banners import dismissed_by_visitor, store_dismissed
from ..links import has_page, is_fragment_request, link_to, previous_path, redirect


@console_form()
@account_optional
def dismiss_banner(banner_id: int) -> Response:
    """Hide a banner from the account, or in the browser of a visitor."""
    found, path = find_caller(optional=True), previous_path()
    if is_fragment_request():
        response = Response()
    else:
        response = redirect(path if has_page(path.partition("?")[0]) else link_to(".home"))
    # The banner may have ended since the page was loaded.
    with suppress(BannerNotFound):
        if found is not None:
            service(Banners).dismiss(found.account, banner_id)
        else:
            _dismiss_in_browser(response, str(banner_id))
    return response


def _dismiss_in_browser(response: Response, banner_id: str) -> None:
    shown = {str(each["id"]): each for each in service(Banners).list_for(None)}
    if banner_id not in shown:
        raise BannerNotFound
    if not shown[banner_id]["dismissible"]:
        raise BannerNotDismissible
    # Without the banners that have ended, the cookie stays short.
    store_dismissed(response, shown.keys() & {*dismissed_by_visitor(), banner_id})
