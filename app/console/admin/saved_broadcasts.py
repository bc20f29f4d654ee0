"""Drafts of broadcasts, saved or with the accounts of another page; and saved segments."""

from dataclasses import replace
from typing import TypedDict

from flask import Response, request

from ...auth.caller import caller
from ...broadcasts.models import SEGMENT_NAME_LENGTH
from ...broadcasts.saved import SavedDrafts, Segments
from ...broadcasts.sent import SentNotifications
from ...core.context import service
from ...core.db.account_ids import serialize_id
from ...core.web.fields import RequestSchema, Text
from ...core.web.request_data import takes
from ...notifications.kinds import ANNOUNCEMENTS
from ...notifications.receivers import Audience
from ..api_calls import console_form
from ..links import redirect_to
from ..pages import render_page
from ..texts import _
from .accounts import FILTERS, is_audience
from .audience_texts import describe
from .audiences import CHOSEN, AudienceChoice, recipient_lists
from .broadcasts import broadcast_page
from .compose import check_again, check_or_write, compose_page, write_page
from .drafts import BroadcastDraft, kinds
from .filters import admins_only, filter_values
from .selected_accounts import list_query, selected_ids, selection_page

AT = "broadcasts_page"


class SegmentName(RequestSchema):
    class Input(TypedDict):
        name: str

    name = Text(min=1, max=SEGMENT_NAME_LENGTH, required=True)


@admins_only
def draft_page(draft_id: int) -> Response:
    content = service(SavedDrafts).get(caller().account.id, draft_id)
    return write_page(BroadcastDraft.from_json(content, draft_id))


@console_form(page=compose_page, shown_at=".compose")
@admins_only
def save_draft() -> Response:
    draft_id = _save(BroadcastDraft.from_form())
    return redirect_to(".draft_page", _("Draft saved."), draft_id=draft_id)


@console_form()
@admins_only
def delete_draft(draft_id: int) -> Response:
    service(SavedDrafts).delete(caller().account.id, draft_id)
    return redirect_to(f".{AT}", _("Draft deleted."))


@admins_only
def email_selected_page() -> Response:
    """Return the form for a new broadcast to the selected accounts."""
    if "all" in request.args and is_audience(filter_values(FILTERS)):
        query = list_query()
        status, role, verified = query.get("status"), query.get("role"), query.get("verified")
        choice = AudienceChoice.of(Audience(status=status, role=role, verified=verified))
    else:
        found = recipient_lists().existing((ids := selected_ids()) or ())
        choice = AudienceChoice(CHOSEN, ids=[str(serialize_id(each)) for each in found])
        if not found:
            return selection_page("email", ids)
    return write_page(replace(BroadcastDraft.from_form(), audience=choice))


@console_form(page=broadcast_page)
@admins_only
def duplicate_broadcast(notification_id: int) -> Response:
    sent = service(SentNotifications)
    item = sent.get(notification_id)
    audience = sent.audience(notification_id)
    choice = AudienceChoice.of(audience)
    kind = item["kind"] if item["kind"] in kinds() else ANNOUNCEMENTS
    texts = (item["title"], item["message"], item["channels"])
    draft_id = _save(BroadcastDraft(*texts, choice, url=item["url"] or "", kind=kind))
    if choice == AudienceChoice(CHOSEN):
        text = _("This draft has the message of the broadcast. Choose the recipients.")
    else:
        text = _("This draft has the message and the recipients of the broadcast.")
    return redirect_to(".draft_page", text, draft_id=draft_id)


@admins_only
def segments_page() -> Response:
    # The ids of listed accounts stay as stored, since the page shows only their number.
    audiences = [(each, describe(Audience(**each.audience))) for each in service(Segments).list()]
    return render_page("admin/broadcasts/segments.html", at=AT, segments=audiences)


@console_form(page=check_again, shown_at=".send_broadcast")
@admins_only
@takes(form=SegmentName)
def save_segment(form: SegmentName.Input) -> Response:
    """Save the recipients of the broadcast that the form has, and show it again."""
    draft = BroadcastDraft.from_form()
    service(Segments).save(form["name"], draft.audience.resolve().audience)
    return check_or_write(draft, _("Segment “{name}” saved.", name=form["name"]))


@console_form()
@admins_only
def delete_segment(segment_id: int) -> Response:
    service(Segments).delete(segment_id)
    return redirect_to(".segments_page", _("Segment deleted."))


def _save(draft: BroadcastDraft) -> int:
    draft_id = int(draft.draft_id) if draft.draft_id else None
    drafts, account_id = service(SavedDrafts), caller().account.id
    return drafts.save(account_id, draft.title, draft.to_json(), draft_id)
