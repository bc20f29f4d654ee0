"""Compose a broadcast: write it, check it and send it."""

from typing import Any, NamedTuple

from flask import Response, request
from markupsafe import Markup

from ...administration import routes as administration_api
from ...auth.caller import caller
from ...broadcasts import routes as broadcasts_api
from ...broadcasts.recipient_lists import MAX_BYTES, MAX_LINES
from ...broadcasts.saved import SavedDrafts, Segments
from ...broadcasts.sent import SentItem
from ...core.context import current_frontdesk, find_context, service
from ...core.db.account_ids import serialize_id
from ...core.db.transaction import transaction
from ...core.errors import Invalid
from ...core.types import JsonObject
from ...delivery.assembly import notification_url
from ...delivery.message import Email
from ...delivery.outbox.enqueue import CountsByChannel
from ...delivery.outbox.models import SKIPPED
from ...delivery.personal import EXAMPLE, FIELDS, FieldValues, fill
from ...notifications.kinds import INAPP
from ...notifications.models import TITLE_LENGTH
from ...notifications.personal import PersonalFields
from ...notifications.service import Draft, Notifications
from ..api_calls import ApiCall, console_form, get_from_api
from ..forms import remember_rejection
from ..links import redirect_to
from ..page_globals import channel_name, kind_name
from ..pages import render_fragment, render_framed, render_page
from ..texts import _, _n
from .audience_texts import describe, languages, refusal_text, role_choices, status_choices
from .audiences import CHOSEN, MAX_NAMED, ResolvedAudience, account_ids
from .drafts import (
    CONFIRM_ABOVE,
    BroadcastDraft,
    ShownCount,
    channels,
    kinds,
    shown_count,
    sign_count,
)
from .emails import previews
from .filters import admins_only
from .finder import find_workspaces

MAX_RESULTS = 8
# A draft with personal fields shows the message of these recipients.
MAX_PREVIEWS = 3


@admins_only
def compose_page() -> Response:
    return write_page(BroadcastDraft.from_form())


@console_form()
@admins_only
def compose() -> Response:
    """Handle the form: only “Review” and “Count recipients” validate the whole draft."""
    draft = BroadcastDraft.from_form()
    # “Count recipients” sends no step: a hidden field would override the step of the button “Edit”.
    step = request.form.get("step", "check" if "count" in request.form else "write")
    return check_or_write(draft) if step == "check" else write_page(draft)


@console_form()
@admins_only
def count_reach() -> Response:
    """Return the recipients for the script: counting a million accounts takes a moment."""
    draft = BroadcastDraft.from_form()
    draft.load()
    return render_fragment(
        "admin/broadcasts/reach.html", **_reach_context(draft, draft.audience.resolve())
    )


@console_form()
@admins_only
def show_mail() -> Response:
    draft = BroadcastDraft.from_form()
    values: FieldValues = {}
    for account_id in account_ids([request.form.get("preview", "")]):
        values = service(PersonalFields).read([account_id]).get(account_id, {})
    return render_framed(_mail_preview(draft, values).html or "")


@console_form()
@admins_only
def send_test() -> Response:
    """Send the draft only to its author, and to no inbox."""
    draft = BroadcastDraft.from_form()
    data = draft.load()
    names = [name for name in data["channels"] if name != INAPP]
    if not names:
        return check_or_write(draft)
    title = _("Test: {title}", title=data["title"]).unescape()[:TITLE_LENGTH]
    account = caller().account
    test = Draft(
        title,
        data["message"],
        names,
        sender_id=account.id,
        is_personal=draft.is_personal,
        url=data.get("url"),
    )
    sent = service(Notifications).send(test, [account.id])
    return check_or_write(draft, _test_result(sent.deliveries))


def _test_result(deliveries: CountsByChannel) -> Markup:
    account = caller().account
    reached = {
        "email": _("Test email sent to {email}.", email=account.email),
        "sms": _("Test SMS sent to {phone}.", phone=account.phone),
    }
    texts = []
    for name, counts in deliveries.items():
        if counts[SKIPPED]:
            texts.append(_("No test was sent by {channel}.", channel=channel_name(name)))
        else:
            text = _("Test sent by {channel}.", channel=channel_name(name))
            texts.append(reached.get(name, text))
    return Markup(" ").join(texts)


@admins_only
def check_again() -> Response:
    return check_or_write(BroadcastDraft.from_form())


@console_form(broadcasts_api.send_notification, page=check_again)
@admins_only
def send_broadcast(call_api: ApiCall) -> Response:
    draft = BroadcastDraft.from_form()
    count = _confirmed_count(draft)
    draft.check_fields()
    audience = draft.audience.resolve().audience
    with transaction(current_frontdesk.session) as session:
        # A draft can be open in two tabs, and the pages can have different counts.
        is_gone = draft.draft_id and not service(SavedDrafts).delete(
            caller().account.id, int(draft.draft_id)
        )
        if is_gone:
            text = _("This draft has already been sent or deleted.")
            return redirect_to(".broadcasts_page", text, kind="info")
        if not count.use_up(session):
            text = _("This broadcast has already been sent.")
            return redirect_to(".broadcasts_page", text, kind="info")
        sent: SentItem = call_api(
            json={"data": draft.data}, query={}, audience=audience, is_personal=draft.is_personal
        )
    text = _n(
        "The broadcast is being sent to one account.",
        "The broadcast is being sent to {n} accounts.",
        sent["receivers"],
    )
    return redirect_to(".broadcast_page", text, notification_id=sent["id"])


def _confirmed_count(draft: BroadcastDraft) -> ShownCount:
    count = shown_count(draft.audience)
    if count is None:
        raise Invalid.about("", _("Wait until the recipients are counted."))
    entered = "".join(each for each in request.form.get("typed", "") if each.isdigit())
    if count.receivers > CONFIRM_ABOVE and entered != str(count.receivers):
        raise Invalid.about("typed", _("This is not the number of recipients."))
    return count


class RecipientPreview(NamedTuple):
    """A message as a recipient sees it."""

    account_id: Any
    values: FieldValues
    title: str
    message: str


def _previews(draft: BroadcastDraft, resolved: ResolvedAudience) -> list[RecipientPreview]:
    """Return the message as some recipients see it, or once if it has no personal fields."""
    if not draft.is_personal:
        return [RecipientPreview("", {}, draft.title, draft.message)]
    ids = service(Notifications).first_receivers(resolved.audience, MAX_PREVIEWS)
    # Without recipients, the sender sees the message with the own values.
    chosen = ids or [caller().account.id]
    values = service(PersonalFields).read(chosen)
    return [
        RecipientPreview(
            serialize_id(each),
            values[each],
            fill(draft.title, values[each]),
            fill(draft.message, values[each]),
        )
        for each in chosen
        if each in values
    ]


def _mail_preview(draft: BroadcastDraft, fields: FieldValues) -> Email:
    link = notification_url(find_context(), draft.url or None)
    values = {"title": draft.title, "message": draft.message, "link": link}
    to = fields.get("email", caller().account.email)
    return previews().email("notification", to, values, fields if draft.is_personal else None)


def write_page(draft: BroadcastDraft, status: int = 200) -> Response:
    found: list[Any] = []
    if draft.search and draft.audience.kind == CHOSEN:
        query = {"search": draft.search, "limit": MAX_RESULTS}
        found = get_from_api(administration_api.list_managed_accounts, query=query).rows
    return render_page(
        "admin/broadcasts/compose.html",
        status=status,
        at="broadcasts_page",
        draft=draft,
        recipients=draft.recipients(),
        found=[each for each in found if str(each["id"]) not in draft.audience.ids],
        channels=channels(),
        kinds=[(key, kind_name(key)) for key in kinds()],
        statuses=status_choices(draft.audience.status),
        roles=role_choices(),
        languages=languages(),
        workspaces=find_workspaces(),
        segments=service(Segments).names(),
        max_lines=MAX_LINES,
        max_size=MAX_BYTES // 1024,
        max_named=MAX_NAMED,
        fields=FIELDS,
        field_example=EXAMPLE,
    )


def check_or_write(draft: BroadcastDraft, message: str = "") -> Response:
    """Return the page to check a draft, or for an invalid draft the page to write it."""
    try:
        draft.load()
        return _check_page(draft, message)
    except Invalid as problem:
        remember_rejection(problem, ".compose")
        return write_page(draft, status=problem.status)


def _check_page(draft: BroadcastDraft, message: str) -> Response:
    """Count listed recipients at once, and others only when the form requests it."""
    resolved = draft.audience.resolve()
    counts = resolved.audience.ids is not None or "count" in request.form
    context: JsonObject = {"audience": describe(resolved.audience)}
    shown = _previews(draft, resolved)
    if counts:
        context |= _reach_context(draft, resolved)
    return render_page(
        "admin/broadcasts/check.html",
        at="broadcasts_page",
        draft=draft,
        message=message,
        previews=shown,
        mail=_mail_preview(draft, shown[0].values) if "email" in draft.channels else None,
        checked=resolved.checked,
        refusal_text=refusal_text,
        **context,
    )


def _reach_context(draft: BroadcastDraft, resolved: ResolvedAudience) -> JsonObject:
    reach = service(Notifications).count_reach(draft.channels, resolved.audience, draft.kind)
    count = reach["receivers"]
    return {
        "recipients": draft.recipients() if draft.audience.kind == CHOSEN else [],
        "reach": reach,
        "counted": sign_count(count, draft.audience),
        "must_confirm": count > CONFIRM_ABOVE,
    }
