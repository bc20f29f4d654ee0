"""The recipients that an admin chooses for a broadcast, as typed and as selected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

from flask import request

from ...accounts.service import Accounts
from ...broadcasts.recipient_lists import (
    MAX_BYTES,
    MAX_LINES,
    CheckedList,
    ListTooLong,
    RecipientLists,
    recipients_of,
)
from ...broadcasts.saved import SegmentNotFound, Segments
from ...core.context import current_frontdesk, service
from ...core.db.account_ids import MAX_ID, serialize_id
from ...core.errors import Invalid
from ...core.types import JsonObject, Values
from ...core.web.request_data import MAX_BODY
from ...notifications.receivers import Audience
from ...workspaces.errors import WorkspaceNotFound
from ...workspaces.service import Workspaces
from ..texts import _
from .audience_texts import BY_ACTIVITY, EXACT, VERIFIED, refusal_text
from .finder import chosen_workspace

FILTERED, EVERYONE, CHOSEN = "filtered", "everyone", "chosen"
LISTED, SAVED = "list", "segment"
KINDS = (FILTERED, EVERYONE, CHOSEN, LISTED, SAVED)
# The maximum number of accounts that a page names.
MAX_NAMED = 50


class ResolvedAudience(NamedTuple):
    audience: Audience
    # The result of the check of a list.
    checked: CheckedList | None = None


@dataclass(frozen=True)
class AudienceChoice:
    """The recipients as in the form. What the chosen kind does not use is kept too."""

    kind: str = FILTERED
    status: str = VERIFIED
    role: str = ""
    # The slug or the name of a workspace.
    workspace: str = ""
    language: str = ""
    # The ids of selected accounts as strings.
    ids: list[str] = field(default_factory=list)
    # The lines of a list.
    lines: str = ""
    # The id of a saved segment.
    segment: str = ""

    @classmethod
    def from_form(cls) -> AudienceChoice:
        form = request.form
        kind = form.get("audience", SAVED if "segment" in request.args else FILTERED)
        return cls(
            kind if kind in KINDS else FILTERED,
            typed_text("status", VERIFIED),
            typed_text("role"),
            typed_text("workspace").strip(),
            typed_text("language"),
            list(dict.fromkeys(filter(None, form.getlist("account_receiver_ids")))),
            _joined(typed_text("list"), _uploaded_text("list_file")),
            form.get("segment", request.args.get("segment", "")),
        )

    @classmethod
    def from_json(cls, values: Values) -> AudienceChoice:
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    @classmethod
    def of(cls, audience: Audience | None) -> AudienceChoice:
        """Return the choice of an audience, without the accounts that no longer exist; a choice
        without accounts, which is no audience yet, if the form cannot select this audience."""
        if audience is None or not _is_selectable(audience):
            return cls(CHOSEN)
        if audience.ids is not None:
            ids = [str(serialize_id(each)) for each in recipient_lists().existing(audience.ids)]
            if len(ids) <= MAX_NAMED:
                return cls(CHOSEN, ids=ids)
            return cls(LISTED, lines="\n".join(ids))
        if audience == Audience():
            return cls(EVERYONE)
        status = audience.status or BY_ACTIVITY[audience.active, audience.verified]
        if audience.status in service(Accounts).active_statuses:
            status = EXACT + status
        slug = ""
        if audience.workspace is not None:
            try:
                slug = service(Workspaces).by_id(audience.workspace).slug
            except WorkspaceNotFound:
                return cls(CHOSEN)
        return cls(
            status=status,
            role=audience.role or "",
            workspace=slug,
            language=audience.language or "",
        )

    def to_json(self) -> JsonObject:
        return asdict(self)

    @property
    def hidden_fields(self) -> Iterator[tuple[str, str]]:
        """The choice as hidden fields for the next page."""
        yield "audience", self.kind
        for name in ("status", "role", "workspace", "language", "segment"):
            yield name, getattr(self, name)
        yield from (("account_receiver_ids", each) for each in self.ids)
        if self.lines:
            yield "list", self.lines

    def resolve(self) -> ResolvedAudience:
        """Return the audience; raise Invalid for a choice without recipients."""
        match self.kind:
            case "chosen":
                return ResolvedAudience(Audience(ids=self._selected_ids()))
            case "list":
                return _check_list(self.lines)
            case "segment":
                return ResolvedAudience(_segment_audience(self.segment))
            case "filtered":
                return ResolvedAudience(self._filtered())
        return ResolvedAudience(Audience())

    def _selected_ids(self) -> list[Any]:
        ids = [*account_ids(self.ids)]
        if not ids:
            raise Invalid.about("account_receiver_ids", _("Select at least one account."))
        return ids

    def _filtered(self) -> Audience:
        activities = {name: activity for activity, name in BY_ACTIVITY.items()}
        active, verified = activities.get(self.status, (None, None))
        return Audience(
            status=None if self.status in activities else self.status.removeprefix(EXACT),
            active=active,
            verified=verified,
            role=self.role or None,
            workspace=chosen_workspace(self.workspace).id if self.workspace else None,
            language=self.language or None,
        )


def _is_selectable(audience: Audience) -> bool:
    """Return whether the form can select the audience: the API and code can select others."""
    activity = (audience.active, audience.verified)
    if audience.ids is not None:
        return audience == Audience(ids=audience.ids)
    if audience.status is not None:
        return activity == (None, None)
    return activity in BY_ACTIVITY


def account_ids(texts: list[str]) -> Iterator[Any]:
    for text in texts:
        with suppress(ValueError):
            yield current_frontdesk.tables.account_ids.from_path(text)


def recipient_lists() -> RecipientLists:
    return RecipientLists(service(Accounts), current_frontdesk.tables.account_ids)


def _check_list(lines: str) -> ResolvedAudience:
    try:
        checked = recipient_lists().check_recipients(lines)
    except ListTooLong:
        text = _(
            "The list is too long. Enter at most {lines} lines and {size} KB.",
            lines=MAX_LINES,
            size=MAX_BYTES // 1024,
        )
        raise Invalid.about("list", text) from None
    if checked.ids:
        return ResolvedAudience(Audience(ids=checked.ids), checked)
    if not checked.refused:
        raise Invalid.about("list", _("Enter at least one email address or account ID."))
    first = checked.refused[0]
    text = _(
        "No line has an active account. Line {n}: {why}", n=first.number, why=refusal_text(first)
    )
    raise Invalid.about("list", text)


def _segment_audience(segment_id: str) -> Audience:
    segments = service(Segments)
    try:
        audience = segments.audience(segments.get(min(int(segment_id[:20]), MAX_ID)))
    except (SegmentNotFound, ValueError):
        raise Invalid.about("segment", _("Choose a segment.")) from None
    if audience.ids is None:
        return audience
    return replace(audience, ids=recipient_lists().existing(audience.ids))


def typed_text(name: str, default: str = "") -> str:
    """Return a text of the form as a database accepts it."""
    return request.form.get(name, default).replace("\r\n", "\n").replace("\0", "")


def _uploaded_text(name: str) -> str:
    file = request.files.get(name)
    if file is None or not file.filename:
        return ""
    # The check refuses the lines of a file in another encoding, and shows them.
    text: str = file.read(MAX_BODY).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _joined(typed: str, uploaded: str) -> str:
    """Return both lists as one. Below typed lines, the titles of a file would not be recognized."""
    if typed.strip():
        # The check refuses a file that is too long.
        with suppress(ListTooLong):
            uploaded = "\n".join(recipients_of(uploaded))
    return "\n".join(filter(None, (text.rstrip("\n") for text in (typed, uploaded))))
