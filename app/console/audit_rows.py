"""Entries of the audit log as rows of a page and of a CSV file, with their titles and names."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import orjson
from markupsafe import Markup, escape

from ..accounts.service import Accounts
from ..audit.service import EntryItem
from ..broadcasts.sent import SentNotifications
from ..core.actions import PROVIDER_ACTOR, TOKEN_ACTOR, Action
from ..core.context import current_frontdesk, service
from ..core.types import AccountKey, JsonObject, Values
from ..notifications.models import SUBJECT
from ..workspaces.invitations.service import Invitations
from ..workspaces.service import Workspaces
from .csv_files import csv_lines
from .page_globals import moment
from .texts import _, capitalize, mark

_REJECTED = ("failed", "refused", "reached", "reused", "suspected")
# Roles and statuses in titles; those of the application are shown as they are.
_NAMES = frozenset(
    (
        *(mark("root"), mark("admin"), mark("user"), mark("owner"), mark("member"), mark("guest")),
        *(mark("active"), mark("online"), mark("inactive"), mark("suspended")),
        *(mark("pending"), mark("deleting")),
    )
)
# Labels of properties in the data of entries; others are shown by their English names.
_LABELS = frozenset(
    (
        *(mark("Email"), mark("Name"), mark("Password"), mark("Phone"), mark("Reason")),
        *(mark("Role"), mark("Status"), mark("Suspended until"), mark("Type")),
    )
)
# The columns of a CSV file before those of the entries.
CSV_NAMES = ("at", "title", "actor", "account")


def entry_title(row: Values, actions: Mapping[str, Action] | None = None) -> Markup:
    """Return the title of an entry; `actions` are the known ones, by default all."""
    known = current_frontdesk.actions.catalogue if actions is None else actions
    action = known.get(row["type"])
    if action is None:
        return escape(row["type"])
    title = action.title_of(row["data"])
    values = {
        name: _(value) if isinstance(value, str) and value in _NAMES else value
        for name, value in title.values.items()
    }
    return capitalize(_(title.text, **values))


def actor_name(row: Values, emails: Mapping[AccountKey, str]) -> str:
    """Return the email address of an account that exists, or the name of a workspace's token or an
    identity provider."""
    if row["actor_kind"] == TOKEN_ACTOR:
        return _("Token {name}", name=row["data"]["token"]["name"])
    if row["actor_kind"] == PROVIDER_ACTOR:
        return _("Identity provider {name}", name=row["data"][PROVIDER_ACTOR])
    return emails.get(row["actor_id"], "")


def _emails(rows: Iterable[Values]) -> dict[AccountKey, str]:
    ids = {row[name] for row in rows for name in ("actor_id", "account_id")} - {None}
    return service(Accounts).rows.emails(ids)


def build_entry_rows(rows: Sequence[Values]) -> list[JsonObject]:
    """Return the rows for a page, with the names of their objects: a query for each kind."""
    emails = _emails(rows)
    workspaces = service(Workspaces).names(row["workspace_id"] for row in rows)
    targets = {(row["target_kind"], row["target_id"]) for row in rows if row["target_id"]}
    addresses, titles = service(Invitations).addresses, service(SentNotifications).titles
    objects = {
        (kind, str(key)): name
        for kind, find in (("invitation", addresses), (SUBJECT, titles))
        for key, name in find(int(i) for of, i in targets if of == kind and i.isdecimal()).items()
    }
    return [_entry_row(row, emails, workspaces, objects) for row in rows]


def _entry_row(
    row: Values,
    emails: Mapping[AccountKey, str],
    workspaces: Mapping[int, str],
    objects: Mapping[tuple[str, str], str],
) -> JsonObject:
    area, _dot, last = row["type"].partition(".")
    if row["actor_kind"] == "anonymous" and area in ("member", "invitation"):
        # An invited user who has just registered.
        row = {**row, "actor_id": row["account_id"]}
    data, target = row["data"], (row["target_kind"], row["target_id"])
    changes = [*_changes(data)]
    texts = (objects.get(target), data.get("name"), data.get("text"))
    return {
        **row,
        "title": entry_title(row),
        "is_rejected": last.endswith(_REJECTED),
        "day": moment(row["at"], "day"),
        "actor": actor_name(row, emails),
        "account": emails.get(row["account_id"], ""),
        "workspace": workspaces.get(row["workspace_id"], ""),
        "object": next((each for each in texts if each and isinstance(each, str)), ""),
        "changes": changes,
        "facts": [
            (_label(name), _as_text(value))
            for name, value in data.items()
            if name not in ("before", "after") and not (name == "changed" and changes)
        ],
    }


def _changes(data: Values) -> Iterator[tuple[str, str, str]]:
    """Yield each changed property with its old and new value."""
    before, after = data.get("before") or {}, data.get("after") or {}
    names = dict.fromkeys((*before, *after, *data.get("changed", ()))) if before or after else ()
    for name in names:
        yield _label(name), _as_text(before.get(name)), _as_text(after.get(name))


def _label(name: str) -> str:
    label = name.replace("_", " ")
    return _(label.capitalize()) if label.capitalize() in _LABELS else label


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_as_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_as_text(item)}" for name, item in value.items())
    return str(value)


def write_csv(items: Sequence[EntryItem]) -> bytes:
    """Return the rows of entries, with titles and email addresses, which need one query."""
    emails = _emails(items)
    return csv_lines(_csv_row(item, emails) for item in items)


def _csv_row(item: EntryItem, emails: Mapping[AccountKey, str]) -> Collection[object]:
    title, actor = entry_title(item).unescape(), escape(actor_name(item, emails)).unescape()
    names = item["at"], title, actor, emails.get(item["account_id"])
    data = orjson.dumps(item["data"]).decode()
    return {**dict(zip(CSV_NAMES, names, strict=True)), **item, "data": data}.values()
