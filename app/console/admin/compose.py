"""Compose a broadcast: write it, check it and send it."""

from typing import Any

from flask import Response, request

from ...administration import routes as administration_api
from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import JsonObject
from ...core.web.request_data import load_body
from ...delivery.message import Email
from ...delivery.settings import DeliverySettings
from ...notifications import admin_routes as broadcasts_api
from ...notifications.schemas import INAPP, Broadcast
from ...notifications.service import Draft, Notifications
from ..api_calls import ApiCall, calls_api, get_from_api
from ..forms import remember_rejection
from ..links import redirect_to
from ..pages import render_fragment, render_framed, render_page
from ..texts import _, _n
from .drafts import CONFIRM_ABOVE, BroadcastDraft, channels, sign_count, signed_count
from .emails import previews
from .filters import admins_only

MAX_RESULTS = 8


@admins_only
def compose_page() -> Response:
    return _compose_page(BroadcastDraft.from_form())


@admins_only
def compose() -> Response:
    """Handle the form: only the button “Review” validates the whole draft."""
    draft = BroadcastDraft.from_form()
    if request.form.get("step") != "check":
        return _compose_page(draft)
    try:
        load_body(Broadcast, draft.body)
    except Invalid as problem:
        remember_rejection(problem)
        return _compose_page(draft, status=problem.status)
    return _check_page(draft)


@calls_api(broadcasts_api.tell_reach)
def count_reach(call_api: ApiCall) -> Response:
    """Return the recipients for the script: counting a million accounts takes a moment."""
    return render_fragment(
        "admin/broadcasts/reach.html", **_reach_context(call_api, BroadcastDraft.from_form())
    )


@admins_only
def show_mail() -> Response:
    draft = BroadcastDraft.from_form()
    return render_framed(_preview(draft).html or "")


@admins_only
def send_test() -> Response:
    """Send the draft only to its author, and to no inbox; errors are those of sending it."""
    draft = BroadcastDraft.from_form()
    loaded: Broadcast.Input = load_body(Broadcast, {"data": draft.body["data"]})
    data = loaded["data"]
    names = [name for name in data["channels"] if name != INAPP]
    account = caller().account
    if names:
        test = Draft(data["title"], data["message"], names, sender_id=account.id)
        service(Notifications).send(test, [account.id])
    text = _("Test email sent to {email}.", email=account.email)
    return _check_page(draft, message=text if names else "")


@admins_only
def check_again() -> Response:
    return _check_page(BroadcastDraft.from_form())


@calls_api(broadcasts_api.send_notification, form_page=check_again)
def send_broadcast(call_api: ApiCall) -> Response:
    draft = BroadcastDraft.from_form()
    _check_confirmation(signed_count())
    sent = call_api(json=draft.body, query={})
    text = _n(
        "The broadcast is being sent to one account.",
        "The broadcast is being sent to {n} accounts.",
        sent["receivers"],
    )
    return redirect_to(".broadcast_page", text, notification_id=sent["id"])


def _check_confirmation(count: int | None) -> None:
    if count is None:
        raise Invalid.about("", _("Wait until the recipients are counted."))
    entered = "".join(each for each in request.form.get("typed", "") if each.isdigit())
    if count > CONFIRM_ABOVE and entered != str(count):
        raise Invalid.about("typed", _("This is not the number of recipients."))


def _preview(draft: BroadcastDraft) -> Email:
    path = current_frontdesk.settings.of(DeliverySettings).DASHBOARD_PATH
    link = current_frontdesk.settings.core.page_url(path)
    values = {"title": draft.title, "message": draft.message, "link": link}
    return previews().email("notification", caller().account.email, values)


def _compose_page(draft: BroadcastDraft, status: int = 200) -> Response:
    found: list[Any] = []
    if draft.search and not draft.is_for_everyone:
        query = {"search": draft.search, "limit": MAX_RESULTS}
        found = get_from_api(administration_api.list_managed_accounts, query=query)
    return render_page(
        "admin/broadcasts/compose.html",
        status=status,
        at="broadcasts_page",
        draft=draft,
        recipients=draft.recipients(),
        found=[each for each in found if str(each["id"]) not in draft.ids],
        channels=channels(),
    )


def _check_page(draft: BroadcastDraft, message: str = "") -> Response:
    """Count selected recipients at once, and all accounts only when the form requests it."""
    counts = not draft.is_for_everyone or "count" in request.form
    reach = _reach_context(ApiCall(broadcasts_api.tell_reach, {}), draft) if counts else {}
    return render_page(
        "admin/broadcasts/check.html",
        at="broadcasts_page",
        draft=draft,
        message=message,
        recipients=draft.recipients(),
        mail=_preview(draft) if "email" in draft.channels else None,
        **reach,
    )


def _reach_context(call_api: ApiCall, draft: BroadcastDraft) -> JsonObject:
    audience = {name: value for name, value in draft.body.items() if name != "data"}
    reach = call_api(json={**audience, "channels": draft.channels})
    count = reach["receivers"]
    return {"reach": reach, "counted": sign_count(count), "must_confirm": count > CONFIRM_ABOVE}
