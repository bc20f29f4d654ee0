"""The filters of the audit log on pages: their choices, and the entries that match."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from flask import request
from markupsafe import Markup

from ..accounts.service import Accounts
from ..audit.schemas import EntryFilter, Kinds
from ..core.audit_log.models import AuditEntry
from ..core.context import current_frontdesk, service
from ..core.db.account_ids import serialize_id
from ..core.errors import Invalid
from ..core.types import JsonObject, Values
from ..core.web.request_data import load_body
from ..extension.actions import AREAS
from .admin.filters import days_to_timestamps, filter_values, today
from .texts import _, capitalize, mark

# The number of results of a search, of each kind.
MAX_HITS = 8
# The area of actions that the application has declared.
APPLICATION = mark("Application")
# Filters that are shown above the list.
TAGS = {"account": mark("About {who}"), "actor": mark("By {who}"), "workspace": mark("In {who}")}
_FILTERS = (*TAGS, "target", "days", "since", "until")
# Periods until now, by their number of days.
PERIODS = {"1": mark("Today"), "7": mark("7 days"), "30": mark("30 days")}


class ActionGroup(NamedTuple):
    """The choices of an area, which is a choice too: pairs of value and label."""

    value: str
    label: Markup
    options: Sequence[tuple[str, Markup]]


class Hit(NamedTuple):
    """A result of the search: a filter with its value."""

    name: str
    value: str
    title: str
    detail: str = ""


def action_groups(areas: Collection[str] = ()) -> list[ActionGroup]:
    """Return the actions and their variants by area, in alphabetical order; `areas` selects."""
    groups: dict[str, list[tuple[str, Markup]]] = {}
    for action in current_frontdesk.actions.catalogue.values():
        area = _area(action.name)
        if not areas or area in areas:
            titles = {action.name: action.title} | {
                f"{action.name}.{key}": variant.title for key, variant in action.variants.items()
            }
            options = ((value, capitalize(_(title))) for value, title in titles.items())
            groups.setdefault(area, []).extend(options)
    found = [
        ActionGroup(area, title := _(area), [(area, title), *sorted(options, key=_by_label)])
        for area, options in groups.items()
    ]
    return sorted(found, key=lambda group: group.label)


def _by_label(option: tuple[str, Markup]) -> str:
    return option[1].casefold()


def _area(name: str) -> str:
    return AREAS.get(name.partition(".")[0], APPLICATION)


def find_actions(search: str, groups: Iterable[ActionGroup]) -> list[Hit]:
    text = search.casefold()
    found = (
        Hit("type", value, title, "" if value == group.value else group.label)
        for group in groups
        for value, title in group.options
        if text in title.casefold()
    )
    return [*islice(found, MAX_HITS)]


def with_hit(filters: Values, hit: Hit) -> JsonObject:
    kinds = [*filters.get("type", ()), hit.value]
    return {**filters, hit.name: kinds if hit.name == "type" else hit.value}


def read_filters() -> JsonObject:
    """Return the filters in the query of the page."""
    kinds = [each for each in request.args.getlist("type") if each]
    return {**filter_values(_FILTERS), **({"type": kinds} if kinds else {})}


def load_filters(given: Values, workspace_id: int | None) -> EntryFilter.Input | None:
    """Return the filters for the audit log, or None if no entry of a workspace can match.

    The result is the same for an address without an account and for an account without entries of
    the workspace: managers do not learn who has an account.
    """
    query: JsonObject = {**days_to_timestamps(given, starts="since", ends="until")}
    kinds, days = query.pop("type", ()), query.pop("days", "")
    if days in PERIODS:
        query.setdefault("since", today(1 - int(days)))
    id_pattern = current_frontdesk.tables.account_ids.pattern
    # The API takes ids in these filters; the pages also accept email addresses.
    for name in ("account", "actor"):
        text = query.get(name, "")
        if "@" in text or (text and not re.fullmatch(id_pattern, text, re.ASCII)):
            found = service(Accounts).find(text)
            if found is None and workspace_id is not None:
                return None
            if found is None:
                raise Invalid.about(
                    name, _("No account has this address. For a deleted account, enter its ID.")
                )
            query[name] = serialize_id(found.id)
    loaded: EntryFilter.Input = load_body(EntryFilter, query)
    if workspace_id is not None:
        loaded["workspace"] = workspace_id
    return {**loaded, "kinds": _find_kinds(kinds)} if kinds else loaded


def _find_kinds(values: Iterable[str]) -> Kinds:
    """Return the kinds of entries for names of actions, of their variants and of areas."""
    actions, whole, parts = current_frontdesk.actions.catalogue, set(), dict[str, list[Any]]()
    for value in values:
        name, _dot, key = value.rpartition(".")
        if name in actions and key in actions[name].variants:
            parts.setdefault(name, []).append(actions[name].variants[key].where(AuditEntry.data))
        else:
            whole.update([each for each in actions if _area(each) == value] or [value])
    return {**parts, **dict.fromkeys(whole, ())}
