"""The access token in the `Authorization` header, as a credential."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import Request

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.errors import MALFORMED, REVOKED
from ..caller import Caller, CredentialReader, Principal, caller_of
from ..errors import InvalidCredentials, LoggedOut
from .access import TokenClaims, Tokens

if TYPE_CHECKING:
    # Loaded only where sessions are on.
    from ..sessions.service import Sessions

_SCHEME = "bearer"
_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+) *", re.ASCII)


@dataclass(eq=False)
class BearerReader:
    """Reads the caller from an access token.

    A token is valid while its account exists, is signed in, and has not revoked its tokens since (a
    change of password or email address does); with sessions on, its session must be active too.
    """

    accounts: Accounts
    tokens: Tokens
    sessions: Sessions | None = None
    # Reads tokens of programs, which have another form than access tokens.
    programs: CredentialReader | None = None
    # Whether the next reader gets headers of another scheme than `Bearer`, which are rejected here.
    only_bearer: bool = False

    def __call__(self, request: Request, optional: bool) -> Principal | None:
        header = request.environ.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        if self.only_bearer and not header.lstrip().lower().startswith(_SCHEME):
            return None
        match = _BEARER.fullmatch(header)
        if match is None:
            found = self.programs(request, optional) if self.programs is not None else None
            if found is None:
                raise InvalidCredentials(reason=MALFORMED)
            return found
        claims = self.tokens.read(match[1])
        account, session = self._account(claims)
        if session is not None:
            return caller_of(session, account, "bearer", claims.expires)
        return Caller(
            account,
            "bearer",
            authenticated_at=claims.issued_at,
            factor_at=claims.issued_at if claims.has_factor else None,
            expires_at=claims.expires,
        )

    def _account(self, claims: TokenClaims) -> tuple[AccountLike, Any]:
        """Return the account and its session, read by one query; raise if the token is invalid."""
        session, ended = None, ""
        if self.sessions is None or claims.session_id is None:
            account = self.accounts.rows.read(claims.email)
        else:
            account, session, ended = self.sessions.rows.of_token(claims.email, claims.session_id)
        if account is None:
            raise AccountNotFound(note={"event": "credential"})
        if account.logged_out_at is not None:
            raise LoggedOut(note={"account_id": account.id})
        if ended or not _is_valid(claims, account) or (self.sessions is not None and not session):
            raise InvalidCredentials(reason=ended or REVOKED, note={"account_id": account.id})
        if self.sessions is not None and session is not None:
            self.sessions.use(session)
        return account, session


def _is_valid(claims: TokenClaims, account: AccountLike) -> bool:
    """Return whether the token was issued after the account's tokens were last revoked."""
    if claims.issued_at is None:
        return account.tokens_valid_from is None
    moment = account.tokens_valid_from or account.created_at
    # Rows from before the column was added have no creation time.
    return moment is None or bool(claims.issued_at >= moment.timestamp())
