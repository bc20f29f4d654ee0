"""The banners above every page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from flask import Response, request

from ..accounts.models import AccountLike
from ..auth.caller import known_caller
from ..core.context import current_frontdesk, service
from ..core.types import JsonObject
from .cookies import read_cookie, set_cookie

if TYPE_CHECKING:
    from .resources import Features

# The ids of the banners that a visitor has dismissed, joined by hyphens.
_COOKIE = "fd-dismissed"
_SECONDS = 180 * 24 * 3600
_ASKS = "frontdesk_asks_for_secret"


def note_secret_field() -> str:
    """Note that the page asks for a password or a code: it then shows no banners."""
    setattr(request, _ASKS, True)
    return ""


def shown_banners(features: Features) -> Sequence[JsonObject]:
    """Return the banners of a page after its content was rendered."""
    if hasattr(request, _ASKS) or not features.has(".dismiss_banner"):
        return ()
    caller = known_caller()
    shown = banners_for(caller.account if caller else None)
    link_url = current_frontdesk.settings.core.link_url
    return [{**each, "link": each["url"] and link_url(each["url"])} for each in shown]


def banners_for(account: AccountLike | None) -> list[JsonObject]:
    """Return the banners that the account, or the browser of a visitor, has not dismissed."""
    # Imported here, because an application may not mount the blueprint.
    from ..banners.service import Banners

    shown = service(Banners).list_for(account)
    if account is not None:
        return shown
    dismissed = dismissed_by_visitor()
    return [each for each in shown if str(each["id"]) not in dismissed]


def dismissed_by_visitor() -> list[str]:
    """Return the ids of the banners that the browser does not show to visitors."""
    return (read_cookie(_COOKIE) or "").split("-")


def store_dismissed(response: Response, ids: Iterable[str]) -> None:
    set_cookie(response, _COOKIE, "-".join(ids), _SECONDS)
