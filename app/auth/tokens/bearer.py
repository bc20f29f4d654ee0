"""The access token in the `Authorization` header, as a credential."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import Request

from ...accounts.errors import AccountNotFound
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ..caller import Caller
from ..errors import InvalidCredentials, LoggedOut
from .access import TokenClaims, Tokens
from .revocation import Revocations

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+) *", re.ASCII)


@dataclass(eq=False)
class BearerReader:
    """There is no session on the server: a token counts while its account stands, was not logged
    out, and has had no moment since (password, e-mail, creation) that ended what was issued before.
    """

    accounts: Accounts
    tokens: Tokens
    revocations: Revocations

    def __call__(self, request: Request) -> Caller | None:
        header = request.environ.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        match = _BEARER.fullmatch(header)
        if match is None:
            raise InvalidCredentials
        claims = self.tokens.read(match[1])
        account = self._account(claims)
        return Caller(
            account, "bearer", authenticated_at=claims.issued_at, expires_at=claims.expires
        )

    def _account(self, claims: TokenClaims) -> AccountLike:
        """One look into the keystore and one query."""
        revoked = self.revocations.find(claims.email)
        account = self.accounts.rows.read(claims.email)
        if account is None:
            raise AccountNotFound(note={"event": "credential"})
        if account.logged_out_at is not None or (
            revoked is not None and revoked == str(account.id)
        ):
            raise LoggedOut(note={"account_id": account.id})
        if not _counts(claims, account):
            raise InvalidCredentials(note={"account_id": account.id})
        return account


def _counts(claims: TokenClaims, account: AccountLike) -> bool:
    """Whether the token is from after the moment from which the account's tokens count."""
    if claims.issued_at is None:
        return account.tokens_valid_from is None
    moment = account.tokens_valid_from or account.created_at
    # Of users from before a host wrote it down, nobody knows since when they are there.
    return moment is None or bool(claims.issued_at >= moment.timestamp())
