"""Writing a broadcast: what and to whom, a look at it, and sending it."""

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
from ..forms import note_refusal
from ..pages import fragment, framed, page
from ..texts import _, _n
from ..ways import go
from .drafts import MANY, DraftOfBroadcast, channels, sign_count, told_count
from .mails import previews
from .reading import admins_only

FOUND = 8


@admins_only
def compose_page() -> Response:
    return _writing(DraftOfBroadcast.sent())


@admins_only
def compose() -> Response:
    """One form with several buttons: the one that leads on asks for all of it."""
    draft = DraftOfBroadcast.sent()
    if request.form.get("step") != "check":
        return _writing(draft)
    try:
        load_body(Broadcast, draft.body)
    except Invalid as problem:
        note_refusal(problem)
        return _writing(draft, status=problem.status)
    return _checking(draft)


@calls_api(broadcasts_api.tell_reach)
def count_reach(call_api: ApiCall) -> Response:
    """For the script of the page that is looked at: counting a million takes a moment."""
    return fragment("admin/broadcasts/reach.html", **_reach(call_api, DraftOfBroadcast.sent()))


@admins_only
def show_mail() -> Response:
    draft = DraftOfBroadcast.sent()
    return framed(_mail_of(draft).html or "")


@admins_only
def send_test() -> Response:
    """To who writes it alone, and into no inbox; what is wrong with it is said as when it is
    sent."""
    draft = DraftOfBroadcast.sent()
    loaded: Broadcast.Input = load_body(Broadcast, {"data": draft.body["data"]})
    data = loaded["data"]
    names = [name for name in data["channels"] if name != INAPP]
    account = caller().account
    if names:
        test = Draft(data["title"], data["message"], names, sender_id=account.id)
        service(Notifications).send(test, [account.id])
    said = _("Test email sent to {email}.", email=account.email)
    return _checking(draft, said=said if names else "")


@admins_only
def check_again() -> Response:
    return _checking(DraftOfBroadcast.sent())


@calls_api(broadcasts_api.send_notification, refused=check_again)
def send_broadcast(call_api: ApiCall) -> Response:
    draft = DraftOfBroadcast.sent()
    _check_typed(told_count())
    sent = call_api(json=draft.body, query={})
    text = _n(
        "The broadcast is being sent to one account.",
        "The broadcast is being sent to {n} accounts.",
        sent["receivers"],
    )
    return go(".broadcast_page", text, notification_id=sent["id"])


def _check_typed(count: int | None) -> None:
    if count is None:
        raise Invalid.about("counted", "Wait until the receivers are counted.")
    typed = "".join(each for each in request.form.get("typed", "") if each.isdigit())
    if count > MANY and typed != str(count):
        raise Invalid.about("typed", "This is not the number of receivers.")


def _mail_of(draft: DraftOfBroadcast) -> Email:
    path = current_frontdesk.settings.of(DeliverySettings).DASHBOARD_PATH
    link = current_frontdesk.settings.core.page_url(path)
    given = {"title": draft.title, "message": draft.message, "link": link}
    return previews().email("notification", caller().account.email, given)


def _writing(draft: DraftOfBroadcast, status: int = 200) -> Response:
    found: list[Any] = []
    if draft.search and not draft.is_for_everyone:
        query = {"search": draft.search, "limit": FOUND}
        found = get_from_api(administration_api.list_managed_accounts, query=query)
    return page(
        "admin/broadcasts/compose.html",
        status=status,
        at="broadcasts_page",
        draft=draft,
        receivers=draft.receivers(),
        found=[each for each in found if str(each["id"]) not in draft.ids],
        channels=channels(),
    )


def _checking(draft: DraftOfBroadcast, said: str = "") -> Response:
    """Those that are chosen are counted at once, and all of them when somebody asks."""
    counts = not draft.is_for_everyone or "count" in request.form
    reach = _reach(ApiCall(broadcasts_api.tell_reach, {}), draft) if counts else {}
    return page(
        "admin/broadcasts/check.html",
        at="broadcasts_page",
        draft=draft,
        said=said,
        receivers=draft.receivers(),
        mail=_mail_of(draft) if "email" in draft.channels else None,
        **reach,
    )


def _reach(call_api: ApiCall, draft: DraftOfBroadcast) -> JsonObject:
    asked = {name: value for name, value in draft.body.items() if name != "data"}
    reach = call_api(json={**asked, "channels": draft.channels})
    count = reach["receivers"]
    return {"reach": reach, "counted": sign_count(count), "is_many": count > MANY}
