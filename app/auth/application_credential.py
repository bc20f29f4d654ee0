"""The credential of an application, which its hook `authenticate` reads: a header of a trusted
proxy or an API gateway, or the session of another extension."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from flask import Request
from sqlalchemy import bindparam

from ..accounts.service import Accounts
from ..core.db.account_ids import IdKind
from ..core.db.rows import Rows
from ..core.errors import MALFORMED, Problem
from ..core.types import AccountKey
from ..core.web.operation import SAFE_METHODS
from .caller import APPLICATION, Caller
from .cross_site import CrossSiteCheck
from .errors import InvalidCredentials

# What the hook has returned, stored on the request.
_RETURNED = "frontdesk_authenticated"


@dataclass(frozen=True)
class Authenticated:
    """The account of a request, with properties of its credential, for the hook `authenticate`.

    Args:
        account: The account or its id; None rejects the request, because its credential names no
            account.
        csrf_safe: Whether browsers never send the credential by themselves. The server then also
            accepts requests that change data from pages of other sites.
        authenticated_at: Time of the user's last sign-in, for routes that require a recent one. A
            time without an offset is in UTC.
        scopes: Names of scopes: only routes that name scopes accept the credential, as they accept
            a token with these scopes. Default: all routes accept it.

    Example::

        @frontdesk.authenticate
        def authenticate(request):
            key = request.headers.get("X-Api-Key")
            return None if key is None else Authenticated(owner_of(key), csrf_safe=True)
    """

    account: Any
    _: KW_ONLY
    csrf_safe: bool = False
    authenticated_at: datetime | None = None
    scopes: Collection[str] | None = None


@dataclass(eq=False)
class ApplicationReader:
    """Reads the caller from the application's credential.

    The account's row is read for every request. `logged_out_at` and `tokens_valid_from` are not
    compared: they end the credentials of Frontdesk, and the application ends its own.
    """

    accounts: Accounts
    ids: IdKind
    authenticate: Callable[[Request], object]
    cross_site: CrossSiteCheck

    def __post_init__(self) -> None:
        model = self.accounts.model
        self._rows = Rows(self.accounts.rows.selected().where(model.id == bindparam("id")))

    def __call__(self, request: Request, optional: bool) -> Caller | None:
        found = self._ask(request)
        if found is None:
            return None
        known = found.account is not None
        rows = self._rows.read(self.accounts.session, id=found.account) if known else ()
        if not rows:
            raise InvalidCredentials(note={"reason": "unknown_account"})
        account = self.accounts.rows.of(rows[0])
        if not found.csrf_safe and request.method not in SAFE_METHODS:
            self.cross_site.check(request, {"account_id": account.id})
        return Caller(
            account,
            APPLICATION,
            scopes=None if found.scopes is None else frozenset(found.scopes),
            authenticated_at=_seconds(found.authenticated_at),
        )

    def _ask(self, request: Request) -> Authenticated | None:
        """Return what the hook returns, with the id as the account; call it once for each request.

        While it runs, the result is None: the hook may itself look for the caller, as the loaders
        of Flask-Login do.
        """
        if not hasattr(request, _RETURNED):
            setattr(request, _RETURNED, None)
            setattr(request, _RETURNED, self._call(request))
        found: Authenticated | Problem | None = getattr(request, _RETURNED)
        if isinstance(found, Problem):
            raise found
        return found

    def _call(self, request: Request) -> Authenticated | Problem | None:
        try:
            returned = self.authenticate(request)
        except Problem as problem:
            return problem
        if returned is None:
            # An `Authorization` header that no reader accepts is rejected, as without a hook.
            is_unknown = "HTTP_AUTHORIZATION" in request.environ
            return InvalidCredentials(reason=MALFORMED) if is_unknown else None
        found = returned if isinstance(returned, Authenticated) else Authenticated(returned)
        if isinstance(found.scopes, str):
            raise TypeError("Authenticated takes the names of scopes as a list, not as a string.")
        if not isinstance(found.authenticated_at, datetime | None):
            raise TypeError(
                "Authenticated takes authenticated_at as a datetime or None, not as"
                f" {type(found.authenticated_at).__name__}."
            )
        return replace(found, account=self._read_id(found.account))

    def _read_id(self, given: object) -> AccountKey | None:
        """Return the id of an account, or None for an id that no account can have."""
        if isinstance(given, self.accounts.model):
            return cast(AccountKey, given.id)
        if given is None:
            return None
        # True is the integer 1, which is an account's id.
        if isinstance(given, bool) or not isinstance(given, (int, str, UUID)):
            raise TypeError(
                "@frontdesk.authenticate must return an account, the id of one, or None, not"
                f" {type(given).__name__}."
            )
        text = str(given)
        with suppress(ValueError):
            if re.fullmatch(self.ids.pattern, text, re.ASCII):
                return self.ids.from_path(text)
        return None


def _seconds(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
