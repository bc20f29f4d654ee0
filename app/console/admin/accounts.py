"""The list of accounts: search, filters, sorting and downloads; and the form for a new account."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from flask import Response, request

from ...accounts.models import DELETING, PENDING
from ...accounts.schemas import own_fields, own_schema
from ...accounts.search import MAX_CHECKED, MAX_MATCHES
from ...accounts.service import Accounts
from ...administration import routes as administration_api
from ...administration.bulk import MAX_ACCOUNTS
from ...administration.rules import may_manage_roles
from ...administration.schemas import AccountDetails, AccountQuery
from ...administration.search import NEWEST_FIRST, AccountSearch
from ...administration.view import Details
from ...audit.service import write_json_lines
from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.db.estimates import Estimate
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject
from ...core.web.paging import Slice
from ...core.web.replicas import reads_replica
from ...core.web.request_data import load_body, schema_instance
from ...core.web.responses import field_names
from ..api_calls import ApiCall, body_of, console_form, get_from_api
from ..csv_files import csv_lines, download, is_csv_name, release_connection
from ..form_fields import form_fields
from ..links import current_path, link_to, redirect, redirect_to
from ..pages import render_page
from ..people import DisplayedPerson
from ..resources import ConsoleResources
from ..texts import _
from .filters import (
    admins_only,
    days_to_timestamps,
    error_messages,
    filter_values,
    link_with,
    roles,
    statuses,
)

AT = "managed_accounts_page"
ROWS = 50
FILTERS = (
    *("search", "status", "role", "mfa", "verified"),
    *("created_after", "last_login_after", "last_login_before"),
)
# The number of accounts that other pages find.
FOUND = 8
SORTS = ("email", "created_at", "last_login_date")
DEFAULT_SORT = NEWEST_FIRST
# The first selection of these columns sorts in descending order.
_CSV_COLUMNS = tuple(field_names(AccountDetails))
_DESCENDING_FIRST = ("created_at", "last_login_date")


@admins_only
def managed_accounts_page() -> Response:
    filters = filter_values((*FILTERS, "sort"))
    position = filter_values(("after", "before"))
    # The number of the first row, which only the links know.
    row = max(request.args.get("row", 1, type=int), 1)
    query = account_query(filters)
    errors: Sequence[str] = ()
    try:
        found = get_from_api(
            administration_api.list_managed_accounts, query={**query, **position, "limit": ROWS}
        )
    except Invalid as problem:
        found, errors = Slice([]), error_messages(problem)
    # More matches than the search counts are listed from the newest accounts on.
    is_cut = "search" in query and found.total is None and not errors
    sort = DEFAULT_SORT if is_cut else filters.get("sort", DEFAULT_SORT)
    return render_page(
        "admin/accounts.html",
        status=422 if errors else 200,
        rows=found.rows,
        people=people_of(found.rows),
        filters=filters,
        errors=errors,
        is_filtered=bool(filters.keys() - {"sort"}),
        here=current_path(),
        has_more=bool(position or found.after),
        more=any(name in filters for name in FILTERS[4:]),
        columns={name: _sort_link(name, filters, sort) for name in SORTS},
        total=_total(found, query),
        most=MAX_MATCHES if is_cut else 0,
        checked=MAX_CHECKED,
        limit=MAX_ACCOUNTS,
        emails_all=is_audience(filters),
        first_url=link_to(f".{AT}", **filters) if position and not found.rows else "",
        row=row,
        previous_url=_page_link(filters, max(row - ROWS, 1), before=found.before),
        next_url=_page_link(filters, row + len(found.rows), after=found.after),
        csv_url=link_to(".accounts_csv", **filters),
        lines_url=link_to(".accounts_file", **filters),
        statuses=[("", _("Any status")), *statuses(_known_statuses())],
        roles=[("", _("Any role")), *roles(service(Accounts).roles)],
    )


def is_audience(filters: Mapping[str, str]) -> bool:
    """Return whether the audience of a broadcast can have all accounts with these filters."""
    names = filters.keys() - {"role", "sort"}
    return names <= {"status"} or names <= {"verified"}


def _page_link(filters: Mapping[str, str], row: int, **position: str | None) -> str:
    return link_with(f".{AT}", {**filters, "row": str(row)}, **position)


@reads_replica
def _total(found: Slice, query: JsonObject) -> Estimate | None:
    """Return the number of accounts; None if the filters of a search leave an unknown number."""
    if found.total is not None:
        return Estimate(found.total, "exactly")
    if "search" in query:
        return Estimate(MAX_MATCHES, "over") if query.keys() <= {"search", "sort"} else None
    if not found.rows:
        return Estimate(0, "exactly")
    filters: AccountQuery.Input = load_body(AccountQuery, query)
    return service(AccountSearch).count(filters)


def account_query(filters: Mapping[str, str]) -> JsonObject:
    """Return the query for the API: days as timestamps, in the order of the list."""
    query = days_to_timestamps(filters, starts="last_login_before", ends="created_after")
    return {"sort": DEFAULT_SORT, **days_to_timestamps(query, ends="last_login_after")}


@reads_replica
def find_accounts(search: str) -> Sequence[JsonObject]:
    """Return the newest accounts that a search finds; none for an invalid text."""
    with suppress(Invalid):
        query = load_body(AccountQuery, {"search": search, "limit": FOUND, "sort": DEFAULT_SORT})
        return service(AccountSearch).page(query).rows
    return ()


def _known_statuses() -> list[str]:
    return [*service(Accounts).statuses(), PENDING, DELETING]


def people_of(rows: Sequence[JsonObject]) -> dict[AccountKey, DisplayedPerson]:
    ids = current_frontdesk.tables.account_ids
    return service(ConsoleResources).people.by_ids(ids.from_path(str(row["id"])) for row in rows)


def _sort_link(name: str, filters: dict[str, str], sort: str) -> dict[str, str]:
    """Return the link of a column title: sort by the column, or reverse its order."""
    is_descending = sort == f"-{name}"
    if sort.removeprefix("-") == name:
        reversed_sort = name if is_descending else f"-{name}"
        return {
            "url": link_to(f".{AT}", **{**filters, "sort": reversed_sort}),
            "sorted": "down" if is_descending else "up",
        }
    first = f"-{name}" if name in _DESCENDING_FIRST else name
    return {"url": link_to(f".{AT}", **{**filters, "sort": first})}


@admins_only
def new_managed_account_page() -> Response:
    own = form_fields(own_fields("registration"))
    return render_page("admin/new_account.html", at=AT, roles=roles(assignable_roles()), own=own)


def assignable_roles() -> list[str]:
    """Return the roles that the caller may assign, the least powerful first."""
    actor = caller().account.role
    root, admin, *others = service(Accounts).roles
    return [role for role in (*others, admin, root) if may_manage_roles(actor, role)]


@console_form(administration_api.create_managed_account, page=new_managed_account_page)
def make_managed_account(call_api: ApiCall) -> Response:
    method, form = request.form.get("way", "invite"), request.form
    body: JsonObject = {"email": form.get("email", ""), "invite": method == "invite"}
    body |= {name: form[name] for name in ("phone", "role") if form.get(name)}
    own = schema_instance(own_schema("registration"))
    body |= {name: each for name, each in body_of(own, form).items() if each != ""}
    if method == "password":
        body["password"] = form.get("password", "")
    created = call_api(json=body)
    text = (
        _(
            "Created an account for {email} and sent an email to set a password.",
            email=created["email"],
        )
        if method == "invite"
        else _("Created an account for {email}.", email=created["email"])
    )
    return redirect_to(".managed_account_page", text, account_id=created["id"])


@admins_only
def accounts_csv() -> Response:
    return _download("accounts.csv")


@admins_only
def accounts_file() -> Response:
    return _download("accounts.jsonl")


def _download(name: str) -> Response:
    filters = filter_values((*FILTERS, "sort"))
    write = _write_csv if is_csv_name(name) else write_json_lines
    release_connection()
    try:
        query: AccountQuery.Input = load_body(AccountQuery, account_query(filters))
        batches = service(AccountSearch).export(query, name.partition(".")[2], write)
    except Invalid:
        # The page shows the errors of the filters.
        return redirect(link_to(f".{AT}", **filters))
    return download(name, batches, (*_CSV_COLUMNS, "name"))


def _write_csv(rows: Sequence[Details]) -> bytes:
    people = people_of(rows)
    return csv_lines(
        [*map(row.get, _CSV_COLUMNS), getattr(people.get(row["id"]), "name", "")] for row in rows
    )
