"""Everything about one account, and what may be done for it."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request
from sqlalchemy import select

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...administration import routes as administration_api
from ...administration.routes import administrators_only
from ...administration.rules import ROOT, may_manage_roles
from ...auth.caller import caller
from ...auth.idp.identities import Identities
from ...auth.limits import Failures
from ...auth.mfa import routes as mfa_api
from ...auth.sessions import routes as sessions_api
from ...core.context import current_frontdesk, service
from ...core.keystore import KeystoreUnavailable
from ...core.types import AccountKey, JsonObject
from ...core.web.operation import View, hidden
from ...deletion.service import Deletion
from ...exports.service import Exports
from ...profiles.models import Profile
from ..api_calls import ApiCall, calls_api, get_from_api
from ..desk import Desk
from ..pages import page
from ..persons import Face
from ..texts import _
from ..ways import Undo, go, to
from .accounts import AT, roles_to_give
from .events import with_names
from .reading import roles

OWN = "managed_account_page"


def details_of(account_id: AccountKey) -> JsonObject:
    found: JsonObject = get_from_api(administration_api.get_managed_account, account_id=account_id)
    return found


def may_change(details: JsonObject, account_id: AccountKey) -> bool:
    """Whether the caller's forms for this account would not be refused for who it is."""
    actor = caller().account
    return bool(actor.id != account_id and may_manage_roles(actor.role, details["role"]))


@administrators_only
@hidden
def managed_account_page(account_id: AccountKey) -> Response:
    details = details_of(account_id)
    account = service(Accounts).by_id(account_id)
    assert account is not None
    found = around(account)
    found["events"] = with_names(found["events"])
    actor = caller().account
    face = service(Desk).persons.find_all([account_id]).get(details["id"])
    return page(
        "admin/account.html",
        at=AT,
        account=details,
        face=face or Face(details["email"]),
        may_change=may_change(details, account_id),
        is_own=actor.id == account_id,
        is_root=actor.role == ROOT,
        roles=_roles(details["role"]),
        active=service(Accounts).active_status,
        **found,
    )


def _roles(own: str) -> list[tuple[str, str]]:
    """Also the one that it has, which may be a host's own."""
    given = roles_to_give()
    return roles(given if own in given else [own, *given])


def _back(said: str, account_id: AccountKey, undo: Undo | None = None) -> Response:
    return go(f".{OWN}", said, undo=undo, account_id=account_id)


@calls_api(administration_api.update_managed_account, refused=managed_account_page)
def change_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    """Its role, or its status where no date goes with that."""
    changed = call_api()
    if "role" in request.form:
        return _back(
            _("{email} now has the role {role}.", email=changed["email"], role=changed["role"]),
            account_id,
        )
    if changed["status"] in service(Accounts).active_statuses:
        return _back(_("Reactivated {email}.", email=changed["email"]), account_id)
    return _back(
        _("Deactivated {email} and ended its sessions.", email=changed["email"]),
        account_id,
        _undo_status(account_id),
    )


def _undo_status(account_id: AccountKey) -> Undo:
    url = to(".change_managed_account", account_id=account_id)
    return Undo(url, {"status": service(Accounts).active_status})


@calls_api(administration_api.recover_account, refused=managed_account_page)
def mail_managed_account_password(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    return _back(_("Password reset email sent."), account_id)


@calls_api(administration_api.sign_out_account, refused=managed_account_page)
def sign_out_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return _back(_("Signed out {email} everywhere.", email=email), account_id)


@calls_api(administration_api.unlock_account, refused=managed_account_page)
def unlock_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return _back(_("Unlocked {email}.", email=email), account_id)


@calls_api(administration_api.verify_account, refused=managed_account_page)
def verify_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return _back(_("{email} is now verified.", email=email), account_id)


@calls_api(mfa_api.reset_authenticators, refused=managed_account_page)
def reset_managed_account_factors(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    return _back(_("Two-factor authentication was reset, and all sessions have ended."), account_id)


@administrators_only
@hidden
def delete_managed_account_page(account_id: AccountKey) -> Response:
    details = details_of(account_id)
    return page(
        "admin/delete_account.html",
        at=AT,
        account=details,
        may_change=may_change(details, account_id),
    )


@calls_api(administration_api.delete_managed_account, refused=delete_managed_account_page)
def delete_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    # Typed out, or nothing is deleted.
    gone = call_api(query={"email": request.form.get("email", "")})
    return go(f".{AT}", _("Deleted the account {email}.", email=gone["email"]))


FEW = 8
# Of sessions and workspaces an account has few; whoever has very many of them sees the first.
SOME = 50


def around(account: AccountLike) -> JsonObject:
    on = service(Desk).on
    account_id = account.id
    found: JsonObject = {
        "profile": _profile(account_id),
        "sessions": _list(sessions_api.list_account_sessions, account_id, SOME),
        "memberships": _list(administration_api.list_account_memberships, account_id, SOME),
        "events": _list(administration_api.list_account_events, account_id, FEW),
        "deliveries": _list(administration_api.list_account_deliveries, account_id, FEW),
        "locked_minutes": _locked_minutes(account.email),
        "identities": [],
        "factors": [],
        "export": None,
        "deletes_at": None,
    }
    if on.provider:
        found["identities"] = service(Identities).list(account_id)
    if on.second_factors:
        found["factors"] = _factors(account_id)
    if on.exports:
        found["export"] = service(Exports).latest(account_id)
    if on.deletion:
        found["deletes_at"] = service(Deletion).deletes_at(account_id)
    return found


def _profile(account_id: AccountKey) -> Profile | None:
    found: Profile | None = current_frontdesk.session.scalar(
        select(Profile).where(Profile.account_id == account_id)
    )
    return found


def _list(view: View, account_id: AccountKey, limit: int) -> list[JsonObject]:
    rows: list[JsonObject] = get_from_api(view, query={"limit": limit}, account_id=account_id)
    return rows


def _factors(account_id: AccountKey) -> Sequence[Any]:
    # Loaded only where it is switched on.
    from ...auth.mfa.authenticators import Authenticators

    return service(Authenticators).list(account_id)


def _locked_minutes(email: str) -> int | None:
    """None where nobody can say."""
    try:
        seconds = service(Failures).locked_seconds(email)
    except KeystoreUnavailable:
        return None
    return -(-seconds // 60)
