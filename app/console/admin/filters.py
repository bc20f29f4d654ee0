"""Shared parts of admin pages: access, filters, and the names of statuses and roles."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TypedDict

from flask import request

from ...auth.decorators import active_account_required, roles_required
from ...core.context import current_frontdesk
from ...core.errors import Invalid
from ...core.web.fields import RequestSchema, StrictInteger
from ...core.web.operation import View
from ..error_texts import labeled_error, message_for
from ..links import link_to
from ..navigation import ADMINS
from ..page_globals import status_name, zone
from ..texts import _, mark


def admins_only(view: View) -> View:
    """Decorate an admin page; its forms have the access rules of the API's routes."""
    return roles_required(*ADMINS)(active_account_required(view))


class ListPosition(RequestSchema):
    """The rows before or after a row of a list; without both, the first rows."""

    class Input(TypedDict):
        before: int | None
        after: int | None

    before = StrictInteger(load_default=None)
    after = StrictInteger(load_default=None)


def is_first(query: ListPosition.Input) -> bool:
    return query["before"] is None and query["after"] is None


_ROLES = {"root": mark("Root"), "admin": mark("Admin"), "user": mark("User")}


def statuses(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, status_name(name)) for name in names]


def roles(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, _(_ROLES.get(name, name))) for name in names]


_DAY = timedelta(days=1)


def filter_values(names: Iterable[str]) -> dict[str, str]:
    """Return the filters in the query of the page, without empty ones."""
    # PostgreSQL accepts no NUL.
    given = ((name, request.args.get(name, "").replace("\0", "").strip()) for name in names)
    return {name: value for name, value in given if value}


def link_with(endpoint: str, filters: Mapping[str, str], **position: str | None) -> str:
    """Return the link to a page of a list with the same filters; empty without a position."""
    return link_to(endpoint, **{**filters, **position}) if any(position.values()) else ""


def days_to_timestamps(
    filters: Mapping[str, str], *, starts: str = "", ends: str = ""
) -> dict[str, str]:
    """Replace days with the times at which they start or end in the reader's time zone.

    An invalid day stays, so that the API rejects it.
    """
    found = dict(filters)
    for name, days in ((starts, 0), (ends, 1)):
        if name in found:
            found[name] = start_of_day(found[name], days) or found[name]
    return found


def today(days_later: int = 0) -> str:
    """Return when today, or another day, starts in the reader's time zone."""
    now = current_frontdesk.clock.now().astimezone(zone() or UTC)
    return start_of_day(now.date().isoformat(), days_later)


def start_of_day(text: str, days_later: int = 0) -> str:
    """Return when a day, or a later day, starts; empty if the text is not a day."""
    try:
        day = date.fromisoformat(text) + days_later * _DAY
        start = datetime.combine(day, time(), zone() or UTC)
        return start.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def error_messages(problem: Invalid) -> Sequence[str]:
    """Return the errors of a page's filters as sentences with the labels of the filters."""
    return [labeled_error(fault) for fault in problem.faults] or [message_for(problem)]
