"""Saved drafts of broadcasts, and saved segments of accounts."""

from typing import TypedDict

from flask import Response

from ...auth.caller import caller
from ...broadcasts.models import SEGMENT_NAME_LENGTH
from ...broadcasts.saved import SavedDrafts, Segments
from ...broadcasts.sent import SentNotifications
from ...core.context import service
from ...core.web.fields import RequestSchema, Text
from ...core.web.request_data import takes
from ...notifications.kinds import ANNOUNCEMENTS
from ...notifications.receivers import Audience
from ..api_calls import console_form
from ..links import redirect_to
from ..pages import render_page
from ..texts import _
from .audience_texts import describe
from .audiences import CHOSEN, AudienceChoice
from .broadcasts import broadcast_page
from .compose import check_again, check_or_write, compose_page, write_page
from .drafts import BroadcastDraft, kinds
from .filters import admins_only

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
