"""Reset tokens and short codes: what proves that someone reads an account's mail.

The token is signed and carries the account's id with a fingerprint of its password, e-mail and
token moment: whichever of them changes, the token is dead, so using it uses it up, and nothing of
it is stored. The code stands in the keystore as a keyed digest, under the account, with the same
fingerprint; five wrong tries end it, counted before each is looked at so that none slips past in
parallel.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import timedelta

from itsdangerous import BadData, URLSafeTimedSerializer
from itsdangerous.timed import TimestampSigner

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.clock import Clock
from ..core.keystore import Keystore
from .errors import InvalidResetToken

SALT = "frontdesk.reset"
CODE_DIGITS = 8
MAX_WRONG_CODES = 5

# Anything shorter is a code (the contract's boundary).
SHORTEST_TOKEN = 10


class ResetTokens:
    def __init__(
        self,
        secret: str,
        fallbacks: Sequence[str],
        accounts: Accounts,
        keystore: Keystore,
        clock: Clock,
        *,
        token_life: timedelta,
        code_life: timedelta,
    ) -> None:
        self.accounts = accounts
        self.keystore = keystore
        self.token_life = token_life
        self.code_life = code_life
        # The first makes them; what was made by the others is still known again.
        self._secrets = [key.encode() for key in (secret, *fallbacks)]

        class Signer(TimestampSigner):
            """Tells the time by our clock."""

            def get_timestamp(self) -> int:
                return int(clock.now().timestamp())

        self._serializer = URLSafeTimedSerializer(
            # The last key signs; the others are still accepted.
            [*reversed(fallbacks), secret],
            salt=SALT,
            signer=Signer,
        )

    def issue(self, account: AccountLike) -> tuple[str, str]:
        """A token and a code. The code takes the place of any earlier one."""
        token = self._serializer.dumps([account.id, self._fingerprint(account)])
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        nonce = secrets.token_hex(4)
        digest = self._keyed(_code_text(nonce, code))
        entry = ":".join((nonce, digest, self._fingerprint(account)))
        self.keystore.put(_code_key(account), entry, int(self.code_life.total_seconds()))
        return str(token), code

    def find(self, token_or_code: str, email: str | None) -> AccountLike:
        """Whose it is, while it counts; otherwise InvalidResetToken."""
        if len(token_or_code) < SHORTEST_TOKEN:
            return self._by_code(token_or_code, email or "")
        account = self._by_token(token_or_code)
        if email is not None and self.accounts.find(email) is not account:
            raise InvalidResetToken
        return account

    def end_code(self, account: AccountLike) -> None:
        self.keystore.drop(_code_key(account))

    def _by_token(self, token: str) -> AccountLike:
        try:
            account_id, fingerprint = self._serializer.loads(
                token, max_age=int(self.token_life.total_seconds())
            )
        except (BadData, ValueError, TypeError):
            raise InvalidResetToken from None
        account = self.accounts.by_id(account_id)
        if account is None or not self._knows(fingerprint, _standing(account)):
            raise InvalidResetToken
        return account

    def _by_code(self, code: str, email: str) -> AccountLike:
        account = self.accounts.find(email)
        entry = self.keystore.get(_code_key(account)) if account else None
        if account is None or entry is None:
            raise InvalidResetToken
        nonce, digest, fingerprint = entry.split(":")
        tries = f"reset-tries:{account.id}:{nonce}"
        seconds = int(self.code_life.total_seconds()) * 2
        if self.keystore.count(tries, seconds) > MAX_WRONG_CODES:
            self.keystore.count(tries, seconds, by=-1)
            raise InvalidResetToken
        right = self._knows(digest, _code_text(nonce, code))
        if not right or not self._knows(fingerprint, _standing(account)):
            raise InvalidResetToken
        # Only wrong tries stay counted.
        self.keystore.count(tries, seconds, by=-1)
        return account

    def _fingerprint(self, account: AccountLike) -> str:
        return self._keyed(_standing(account))

    def _keyed(self, text: str) -> str:
        return _hmac(self._secrets[0], text)

    def _knows(self, keyed: str, text: str) -> bool:
        return any(hmac.compare_digest(keyed, _hmac(secret, text)) for secret in self._secrets)


def _hmac(secret: bytes, text: str) -> str:
    return hmac.new(secret, f"{SALT}:{text}".encode(), hashlib.sha256).hexdigest()


def _standing(account: AccountLike) -> str:
    """What ends a token or code when it changes."""
    moment = account.tokens_valid_from
    since = moment.timestamp() if moment else ""
    return f"{account.id}:{account.email}:{account.password_hash}:{since}"


def _code_text(nonce: str, code: str) -> str:
    return f"code:{nonce}:{code}"


def _code_key(account: AccountLike) -> str:
    return f"reset-code:{account.id}"
