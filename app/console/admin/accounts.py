"""All accounts: searched, filtered, sorted; and making one."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from ...accounts.models import DELETING, PENDING, ROLES
from ...accounts.service import Accounts
from ...administration import routes as administration_api
from ...administration.routes import administrators_only
from ...administration.rules import may_manage_roles
from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import JsonObject
from ...core.web.operation import hidden
from ..api_calls import ApiCall, ListPage, calls_api, list_from_api
from ..desk import Desk
from ..pages import page
from ..texts import _
from ..ways import go, to
from .reading import asked, faults_of, roles, statuses, with_moments

AT = "managed_accounts_page"
ROWS = 50
FILTERS = ("search", "status", "role", "mfa", "verified", "created_after", "last_login_before")
SORTS = ("email", "created_at", "last_login_date")
# The newest, the last to have been there, and the alphabet are what one looks for first.
_FALLING_FIRST = ("created_at", "last_login_date")


@administrators_only
@hidden
def managed_accounts_page() -> Response:
    given = asked((*FILTERS, "sort"))
    place = asked(("after",))
    query = with_moments(given, starts="last_login_before", ends="created_after")
    faults: Sequence[str] = ()
    try:
        found = list_from_api(
            administration_api.list_managed_accounts, query={**query, **place, "limit": ROWS}
        )
    except Invalid as problem:
        found, faults = ListPage([], {}), faults_of(problem)
    return page(
        "admin/accounts.html",
        status=422 if faults else 200,
        rows=found.rows,
        faces=_faces(found.rows),
        given=given,
        faults=faults,
        is_filtered=bool(given.keys() - {"sort"}),
        more=any(name in given for name in FILTERS[4:]),
        columns={name: _column(name, given) for name in SORTS},
        first=to(f".{AT}", **given) if place else "",
        further=to(f".{AT}", **{**given, **found.further}) if found.further else "",
        statuses=[("", _("Any status")), *statuses(_known_statuses())],
        roles=[("", _("Any role")), *roles(ROLES)],
    )


def _known_statuses() -> list[str]:
    return [*service(Accounts).statuses(), PENDING, DELETING]


def _faces(rows: list[JsonObject]) -> dict[Any, Any]:
    ids = current_frontdesk.tables.account_ids
    return service(Desk).persons.find_all(ids.from_path(str(row["id"])) for row in rows)


def _column(name: str, given: dict[str, str]) -> dict[str, str]:
    """The link of a column's title: by it, or by it the other way round."""
    sort = given.get("sort") or ("email" if "search" in given else "-created_at")
    falls = sort == f"-{name}"
    if sort.removeprefix("-") == name:
        turned = name if falls else f"-{name}"
        return {
            "url": to(f".{AT}", **{**given, "sort": turned}),
            "sorted": "down" if falls else "up",
        }
    first = f"-{name}" if name in _FALLING_FIRST else name
    return {"url": to(f".{AT}", **{**given, "sort": first})}


@administrators_only
@hidden
def new_managed_account_page() -> Response:
    return page("admin/new_account.html", at=AT, roles=roles(roles_to_give()))


def roles_to_give() -> list[str]:
    """Those that the caller may make somebody, the least first."""
    actor = caller().account.role
    return [role for role in reversed(ROLES) if may_manage_roles(actor, role)]


@calls_api(administration_api.create_managed_account, refused=new_managed_account_page)
def make_managed_account(call_api: ApiCall) -> Response:
    way, form = request.form.get("way", "invite"), request.form
    given: JsonObject = {"email": form.get("email", ""), "invite": way == "invite"}
    given |= {name: form[name] for name in ("phone", "role") if form.get(name)}
    if way == "password":
        given["password"] = form.get("password", "")
    made = call_api(json=given)
    said = (
        _(
            "Created an account for {email} and sent an email to set a password.",
            email=made["email"],
        )
        if way == "invite"
        else _("Created an account for {email}.", email=made["email"])
    )
    return go(".managed_account_page", said, account_id=made["id"])
