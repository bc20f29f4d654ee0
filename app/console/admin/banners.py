"""Banners for admins: a list, and a form to create and change one."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from flask import Response, request
from markupsafe import Markup

from ...banners import routes as banners_api
from ...banners.models import EVERYONE, INFO, LEVELS, TEXT_LENGTH
from ...banners.service import MAX_IN_FORCE
from ...core.context import current_frontdesk
from ...core.types import JsonObject
from ...notifications.receivers import Audience
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import Paging, redirect_to
from ..page_globals import zone
from ..pages import render_page
from ..texts import _, mark
from .audience_texts import describe, languages, role_choices, status_choices
from .audiences import CHOSEN, AudienceChoice, typed_text
from .filters import admins_only
from .finder import find_workspaces

AT = "managed_banners_page"
PER_PAGE = 25
LEVEL_NAMES = {
    "info": mark("Information"),
    "warning": mark("Warning"),
    "critical": mark("Critical"),
}
# The choices of the audience that a broadcast does not have: with visitors, and unchanged.
PUBLIC, KEPT = "public", "kept"
_MINUTES = "%Y-%m-%dT%H:%M"


@admins_only
def managed_banners_page() -> Response:
    paging = Paging.from_request(PER_PAGE)
    found = get_from_api(banners_api.list_managed_banners, query=paging.query)
    now = current_frontdesk.clock.now()
    return render_page(
        "admin/banners/list.html",
        banners=[(each, _describe(each), _state(each, now)) for each in paging.visible(found)],
        levels=LEVEL_NAMES,
        most=MAX_IN_FORCE,
        links=paging.links(found),
    )


@admins_only
def new_banner_page() -> Response:
    return _form_page(None)


@console_form(banners_api.create_banner, page=new_banner_page)
@admins_only
def create_managed_banner(call_api: ApiCall) -> Response:
    call_api(json=_sent_banner())
    return redirect_to(f".{AT}", _("Banner created."))


@admins_only
def managed_banner_page(banner_id: int) -> Response:
    return _form_page(get_from_api(banners_api.get_managed_banner, banner_id=banner_id))


@console_form(banners_api.update_banner, page=managed_banner_page)
@admins_only
def change_managed_banner(call_api: ApiCall, banner_id: int) -> Response:
    stored = get_from_api(banners_api.get_managed_banner, banner_id=banner_id)
    sent = _sent_banner()
    # The form has no seconds, and does not change a time by leaving them out.
    for name in ("starts_at", "ends_at"):
        if request.form.get(name) == _local(stored[name]):
            del sent[name]
    call_api(json=sent)
    return redirect_to(f".{AT}", _("Banner changed."))


@console_form(banners_api.delete_banner)
def delete_managed_banner(call_api: ApiCall, banner_id: int) -> Response:
    call_api()
    return redirect_to(f".{AT}", _("Banner deleted."))


def _form_page(banner: JsonObject | None) -> Response:
    """Return the page with the form of a new or a stored banner."""
    banner = banner or {"level": INFO, "audience": {}, "dismissible": True}
    kind, choice = _choice_of(banner["audience"])
    return render_page(
        "admin/banners/form.html",
        at=AT,
        banner=banner,
        kind=kind,
        choice=choice,
        kept=_describe(banner) if kind == KEPT else (),
        times={name: _local(banner.get(name)) for name in ("starts_at", "ends_at")},
        zone=zone() or "UTC",
        levels=[(name, _(LEVEL_NAMES[name])) for name in reversed(LEVELS)],
        statuses=status_choices(choice.status),
        roles=role_choices(),
        languages=languages(),
        workspaces=find_workspaces(),
        max_length=TEXT_LENGTH,
    )


def _choice_of(audience: Any) -> tuple[str, AudienceChoice]:
    """Return the chosen kind of audience, and its filters."""
    if audience == EVERYONE:
        return PUBLIC, AudienceChoice()
    choice = AudienceChoice(CHOSEN)
    if "ids" not in audience:
        choice = AudienceChoice.of(Audience(**audience))
    # The form has no list of accounts.
    return (KEPT, AudienceChoice()) if choice.kind == CHOSEN else (choice.kind, choice)


def _sent_banner() -> JsonObject:
    form = request.form
    sent: JsonObject = {
        "text": typed_text("text").strip(),
        "url": form.get("url", "").strip() or None,
        "level": form.get("level", INFO),
        "dismissible": form.get("dismissible") == "true",
        "ends_at": _sent_time("ends_at") or None,
    }
    if start := _sent_time("starts_at"):
        sent["starts_at"] = start
    kind = form.get("audience")
    if kind == PUBLIC:
        sent["audience"] = EVERYONE
    elif kind != KEPT:
        sent["audience"] = AudienceChoice.from_form().resolve().audience.to_json()
    return sent


def _sent_time(name: str) -> str:
    """Return the time of a field, which has the reader's time zone. An invalid value stays, so that
    the API rejects it."""
    text = request.form.get(name, "")
    with suppress(ValueError, OverflowError):
        local = datetime.fromisoformat(text).replace(tzinfo=zone() or UTC)
        return local.astimezone(UTC).isoformat()
    return text


def _local(value: str | None) -> str:
    """Return a time as its field shows it."""
    if value is None:
        return ""
    return datetime.fromisoformat(value).astimezone(zone() or UTC).strftime(_MINUTES)


def _describe(banner: JsonObject) -> list[Markup]:
    audience = banner["audience"]
    if audience == EVERYONE:
        return [_("Everyone, including visitors")]
    return describe(Audience(**audience))


def _state(banner: JsonObject, now: datetime) -> str:
    end = banner["ends_at"]
    if end is not None and datetime.fromisoformat(end) <= now:
        return "ended"
    return "scheduled" if datetime.fromisoformat(banner["starts_at"]) > now else "shown"
