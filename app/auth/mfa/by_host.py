"""The authenticators of the caller's account, for pages of an application:
`frontdesk.authenticators`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...core.context import service
from ...core.types import JsonObject
from ..caller import caller, find_caller
from ..decorators import check_active
from ..sign_in.application_api import dump, enter, require_mfa
from . import totp
from .apps import AppEnrolment
from .authenticators import Authenticators
from .models import Authenticator
from .policy import Enrollers, Enrolling, FactorFreshness
from .recovery_codes import CodeRenewal
from .schemas import enrolled_read


class AppSetup(NamedTuple):
    """What an authenticator app needs to know. None of it is shown again."""

    id: int
    # In base 32, for typing.
    secret: str
    # `otpauth://…`, the content of the QR code.
    uri: str
    # The QR code as SVG.
    qr: str


class CallerAuthenticators:
    """For views below an authentication decorator; what the routes `/authenticators` do.

    Except for `list`, each call asks for a recent sign-in, and for a recent second factor where the
    account has one: `ReauthenticationRequired`.
    """

    def list(self) -> Sequence[Authenticator]:
        """Authenticator apps and passkeys: `id`, `kind`, `name`, `created_at`, `last_used_at`."""
        require_mfa()
        return service(Authenticators).list(caller().account.id)

    def begin_app(self, name: str | None = None, *, mfa_token: str | None = None) -> AppSetup:
        """Begin the setup of an authenticator app, which `confirm_app` ends within ten minutes.

        `mfa_token` takes the place of a signed-in caller: that of `EnrolmentRequired.members`.
        """
        who = _enrolling(mfa_token)
        begun = service(AppEnrolment).begin(who, name)
        return AppSetup(**begun, qr=totp.qr_code(begun["uri"]))

    def confirm_app(
        self,
        authenticator_id: int,
        otp: str,
        *,
        mfa_token: str | None = None,
        by_cookie: bool = False,
    ) -> JsonObject:
        """Confirm an authenticator app with one of its codes. Raises `WrongFactor`.

        Every earlier sign-in of the account ends, and this one goes on. Returns what
        `Frontdesk.sign_in` returns, with `recovery_codes`: ten of them with the first
        authenticator, None later. `by_cookie` is for use with `mfa_token`; a caller with a cookie
        gets a new cookie without it.
        """
        options = enter(by_cookie, caller=find_caller())
        who = _enrolling(mfa_token)
        enrolled = service(AppEnrolment).confirm(who, authenticator_id, otp, options)
        return dump(enrolled_read(), enrolled.outcome, recovery_codes=enrolled.recovery_codes)

    def remove(self, authenticator_id: int) -> None:
        """Remove an authenticator. Recovery codes and trusted devices end with the last one.

        Raises `Problem` with the code `last_factor` where the account must have one.
        """
        _check_fresh()
        service(Authenticators).remove(caller().attached_account, authenticator_id)

    def make_recovery_codes(self) -> Sequence[str]:
        """Ten new recovery codes, shown once. The earlier ones end."""
        _check_fresh()
        return service(CodeRenewal).renew(caller().attached_account)


def _check_fresh() -> None:
    require_mfa()
    check_active()
    service(FactorFreshness).check(caller())


def _enrolling(mfa_token: str | None) -> Enrolling:
    require_mfa()
    return service(Enrollers).find(find_caller(), mfa_token)
