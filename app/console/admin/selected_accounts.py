"""Changes of the accounts that are selected in the list: a page that asks, and its form."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NotRequired, TypedDict

from flask import Response, request
from markupsafe import Markup

from ...accounts.models import REASON_LENGTH, AccountLike, Suspension, keeps_dates
from ...administration import bulk
from ...administration.bulk import MAX_ACCOUNTS, BulkAdministration, Selection
from ...administration.schemas import AccountQuery
from ...administration.search import AccountSearch
from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.db.account_ids import serialize_id
from ...core.errors import Invalid
from ...core.types import AccountKey
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text, Timestamp
from ...core.web.request_data import load_body, takes
from ...workspaces.models import GUEST, MEMBER, NAME_LENGTH
from ..api_calls import console_form
from ..links import Undo, link_to, next_path, redirect
from ..pages import render_page
from ..texts import _, _n, mark
from .account import with_ownerless
from .account_changes import sent_suspension
from .accounts import AT, FILTERS, account_query
from .filters import admins_only, filter_values
from .finder import chosen_workspace, find_workspaces

# Larger selections show only the first accounts.
LISTED = 50
_REASONS = {
    bulk.OWN: mark("your own account"),
    bulk.ROLE: mark("role that you cannot change here"),
    bulk.IS_SUSPENDED: mark("already suspended"),
    bulk.IS_ACTIVE: mark("already active"),
    bulk.IS_DELETING: mark("scheduled for deletion"),
    bulk.IS_PENDING: mark("unverified email address"),
    bulk.IS_MEMBER: mark("already a member"),
}


class SuspensionFields(RequestSchema):
    class Input(TypedDict):
        suspended_until: NotRequired[datetime]
        suspended_reason: NotRequired[str]

    suspended_until = Timestamp()
    suspended_reason = Text(max=REASON_LENGTH)


class WorkspaceFields(RequestSchema):
    class Input(TypedDict):
        workspace: str
        type: str

    workspace = Text(min=1, max=NAME_LENGTH, strip=True, required=True)
    type = EnumField(NamedEnum("SelectedMemberType", (MEMBER, GUEST)), load_default=MEMBER)


@admins_only
def suspend_selected_page() -> Response:
    return _page("suspend")


@admins_only
def reactivate_selected_page() -> Response:
    return _page("reactivate")


@admins_only
def sign_out_selected_page() -> Response:
    return _page("sign_out")


@admins_only
def add_selected_page() -> Response:
    return _page("add")


def _page(action: str) -> Response:
    return selection_page(action, selected_ids())


def selection_page(action: str, ids: Sequence[AccountKey] | None) -> Response:
    changed = ids or ()
    selection = service(BulkAdministration).preview(caller().account, changed, action)
    return render_page(
        "admin/selected_accounts.html",
        at=AT,
        action=action,
        ids=[serialize_id(each) for each in changed],
        emails=[account.email for account in selection.included[:LISTED]],
        count=len(selection.included),
        skipped=_skipped(selection.skipped),
        limit=MAX_ACCOUNTS if ids is None else 0,
        back=_back(),
        workspaces=find_workspaces() if action == "add" else (),
        has_dates=keeps_dates(current_frontdesk.tables.account_model),
    )


def selected_ids() -> Sequence[AccountKey] | None:
    """Return the ids of the selected accounts, or of all that match the filters of the list; None
    if there are more than a change can include."""
    if request.method == "GET" and "all" in request.args:
        found = service(AccountSearch).page({**list_query(), "limit": MAX_ACCOUNTS})
        # Without a total, the page does not have all accounts.
        is_complete = found.total is not None and found.total <= MAX_ACCOUNTS
        return [_id(str(row["id"])) for row in found.rows] if is_complete else None
    given = request.form if request.method == "POST" else request.args
    try:
        # The form that undoes a suspension has the ids in one field.
        texts = " ".join(given.getlist("account")).split()
        ids = [_id(text) for text in dict.fromkeys(texts[: MAX_ACCOUNTS + 1])]
    except ValueError:
        return []
    return ids if len(ids) <= MAX_ACCOUNTS else None


def list_query() -> AccountQuery.Input:
    query: AccountQuery.Input = load_body(AccountQuery, account_query(filter_values(FILTERS)))
    return query


def _id(text: str) -> AccountKey:
    found: AccountKey = current_frontdesk.tables.account_ids.from_path(text)
    return found


def _chosen_ids() -> Sequence[AccountKey]:
    ids = selected_ids()
    if not ids:
        raise Invalid.about("account", _("Select 1 to {n} accounts.", n=MAX_ACCOUNTS))
    return ids


@console_form(page=suspend_selected_page)
@admins_only
def suspend_selected() -> Response:
    sent: SuspensionFields.Input = load_body(SuspensionFields, sent_suspension())
    selection = service(BulkAdministration).suspend(
        caller().account,
        _chosen_ids(),
        Suspension(sent.get("suspended_until"), sent.get("suspended_reason")),
    )
    n = len(selection.included)
    text = _n("Suspended {n} account.", "Suspended {n} accounts.", n)
    active = " ".join(map(str, map(serialize_id, selection.formerly_active)))
    undo = Undo(link_to(".reactivate_selected"), {"account": active, "next": _back()})
    return _finish(selection, with_ownerless(text, selection.ownerless), undo if active else None)


@console_form(page=reactivate_selected_page)
@admins_only
def reactivate_selected() -> Response:
    selection = service(BulkAdministration).reactivate(caller().account, _chosen_ids())
    n = len(selection.included)
    return _finish(selection, _n("Reactivated {n} account.", "Reactivated {n} accounts.", n))


@console_form(page=sign_out_selected_page)
@admins_only
def sign_out_selected() -> Response:
    selection = service(BulkAdministration).sign_out(caller().account, _chosen_ids())
    n = len(selection.included)
    return _finish(selection, _n("Signed out {n} account.", "Signed out {n} accounts.", n))


@console_form(page=add_selected_page)
@admins_only
@takes(form=WorkspaceFields)
def add_selected(form: WorkspaceFields.Input) -> Response:
    workspace = chosen_workspace(form["workspace"])
    selection = service(BulkAdministration).add_to_workspace(
        caller().account, _chosen_ids(), workspace, form["type"]
    )
    text = _n(
        "Added {n} account to the workspace {workspace}.",
        "Added {n} accounts to the workspace {workspace}.",
        len(selection.included),
        workspace=workspace.name,
    )
    return _finish(selection, text)


def _back() -> str:
    return next_path(link_to(f".{AT}"))


def _finish(selection: Selection, text: str, undo: Undo | None = None) -> Response:
    """Return to the list, with the number of changed accounts and why others were skipped."""
    if skipped := _skipped(selection.skipped):
        reasons = Markup(", ").join(Markup("{} ({})").format(*each) for each in skipped)
        text = _("{result} Skipped: {reasons}.", result=text, reasons=reasons)
    kind = "success" if selection.included and not selection.ownerless else "warning"
    return redirect(_back(), text, kind=kind, undo=undo)


def _skipped(skipped: Sequence[tuple[AccountLike, str]]) -> list[tuple[str, int]]:
    return [(_(_REASONS[reason]), n) for reason, n in Counter(r for _a, r in skipped).items()]
