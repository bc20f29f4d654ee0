"""`frontdesk.authenticators`: the authenticators of the caller's account, for application pages."""

from collections.abc import Sequence
from typing import NamedTuple

from ...core.context import service
from ...core.types import JsonObject
from ..caller import caller, find_caller
from ..decorators import check_active
from ..sign_in.application_api import build_options, dump, require_mfa
from ..step_up.service import Freshness
from . import totp
from .apps import AppEnrollment
from .authenticators import Authenticators
from .models import Authenticator
from .policy import Enrollee, find_enrollee
from .schemas import enrolled_read


class AppSetup(NamedTuple):
    """What an authenticator app needs. Nothing of it is shown again."""

    id: int
    # In base 32, for users who type it.
    secret: str
    # `otpauth://…`, the content of the QR code.
    uri: str
    # The QR code as SVG.
    qr: str


class CallerAuthenticators:
    """For views below an authentication decorator; does what the routes `/authenticators` do.

    Except for `list`, each method raises `ReauthenticationRequired` without a recent sign-in, or
    without a recent second factor if the account has one.
    """

    def list(self) -> Sequence[Authenticator]:
        """Return authenticator apps and passkeys.

        Each has `id`, `kind`, `name`, `created_at` and `last_used_at`.
        """
        require_mfa()
        return service(Authenticators).list(caller().account.id)

    def begin_app(self, name: str | None = None, *, mfa_token: str | None = None) -> AppSetup:
        """Begin the setup of an authenticator app, which `confirm_app` finishes within ten minutes.

        `mfa_token`, of `EnrolmentRequired.members`, replaces a signed-in caller.
        """
        enrollee = _find_enrollee(mfa_token)
        setup = service(AppEnrollment).begin(enrollee, name)
        return AppSetup(**setup, qr=totp.qr_code(setup["uri"]))

    def confirm_app(
        self,
        authenticator_id: int,
        otp: str,
        *,
        mfa_token: str | None = None,
        by_cookie: bool = False,
    ) -> JsonObject:
        """Confirm an authenticator app with one of its codes. Raises `WrongFactor`.

        Every earlier sign-in of the account ends, and a new one begins. Returns what
        `Frontdesk.sign_in` returns, with `recovery_codes`: ten codes with the first
        authenticator, None later. `by_cookie` is for use with `mfa_token`; a caller with a cookie
        gets a new cookie without it.
        """
        options = build_options(by_cookie, caller=find_caller())
        enrollee = _find_enrollee(mfa_token)
        enrolled = service(AppEnrollment).confirm(enrollee, authenticator_id, otp, options)
        return dump(enrolled_read(), enrolled.outcome, recovery_codes=enrolled.recovery_codes)

    def remove(self, authenticator_id: int) -> None:
        """Remove an authenticator, and with the last one recovery codes and trusted devices.

        Raises `Problem` with the code `last_factor` if the account must have a second factor.
        """
        _check_fresh()
        service(Authenticators).remove(caller().attached_account, authenticator_id)

    def make_recovery_codes(self) -> Sequence[str]:
        """Return ten new recovery codes, which are shown once. Earlier codes end."""
        _check_fresh()
        return service(Authenticators).renew_recovery_codes(caller().attached_account)


def _check_fresh() -> None:
    require_mfa()
    check_active()
    service(Freshness).require_with_factor(caller())


def _find_enrollee(mfa_token: str | None) -> Enrollee:
    require_mfa()
    return find_enrollee(mfa_token)
