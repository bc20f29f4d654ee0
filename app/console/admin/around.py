"""What there is to know about one account beside its own row, each at the price of one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from ...accounts.models import AccountLike
from ...administration import routes as administration_api
from ...auth.idp.identities import Identities
from ...auth.limits import Failures
from ...auth.sessions import routes as sessions_api
from ...core.context import current_frontdesk, service
from ...core.keystore import KeystoreUnavailable
from ...core.web.operation import View
from ...deletion.service import Deletion
from ...exports.service import Exports
from ...profiles.models import Profile
from ..api_calls import get_from_api
from ..desk import Desk

FEW = 8
# Of sessions and workspaces an account has few; whoever has very many of them sees the first.
SOME = 50


def around(account: AccountLike) -> dict[str, Any]:
    on = service(Desk).on
    account_id = account.id
    found: dict[str, Any] = {
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
        found["identities"] = service(Identities).of(account_id)
    if on.second_factors:
        found["factors"] = _factors(account_id)
    if on.exports:
        found["export"] = service(Exports).latest(account_id)
    if on.deletion:
        found["deletes_at"] = service(Deletion).due(account_id)
    return found


def _profile(account_id: Any) -> Profile | None:
    found: Profile | None = current_frontdesk.session.scalar(
        select(Profile).where(Profile.account_id == account_id)
    )
    return found


def _list(view: View, account_id: Any, limit: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get_from_api(view, query={"limit": limit}, account_id=account_id)
    return rows


def _factors(account_id: Any) -> Sequence[Any]:
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
