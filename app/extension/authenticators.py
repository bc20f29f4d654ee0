"""`frontdesk.authenticators`: the authenticators of the caller's account, for application pages."""

from collections.abc import Sequence
from typing import NamedTuple

from marshmallow import Schema

from ..auth.caller import caller, find_caller
from ..auth.decorators import check_active
from ..auth.mfa import totp
from ..auth.mfa.apps import AppEnrollment
from ..auth.mfa.authenticators import Authenticators
from ..auth.mfa.changes import FactorChanges
from ..auth.mfa.models import Authenticator
from ..auth.mfa.policy import Enrollee, find_enrollee
from ..auth.mfa.schemas import RecoveryCodesRead, RemovedAuthenticator, enrolled_read
from ..auth.step_up.service import Freshness
from ..core.context import service
from ..core.types import JsonObject
from ..core.web.request_data import schema_instance
from .application_sign_in import build_options, dump, require_mfa


class AppSetup(NamedTuple):
    """The values that set up an authenticator app. They cannot be read again.

    Attributes:
        id: Id of the authenticator, for `confirm_app`.
        secret: The secret in base 32, for users who type it.
        uri: The content of the QR code, `otpauth://…`.
        qr: The QR code as SVG.
    """

    id: int
    secret: str
    uri: str
    qr: str


class CallerAuthenticators:
    """The MFA methods of the caller's account, as the routes `/authenticators` show them.

    Use it as `frontdesk.authenticators` in views with an authentication decorator. Except for
    `list`, each method raises `ReauthenticationRequired` without a recent sign-in, or without a
    recent second factor if the account has one.

    Example::

        @app.get("/security")
        @active_account_required
        def security():
            return render_template("security.html", methods=frontdesk.authenticators.list())
    """

    def list(self) -> Sequence[Authenticator]:
        """Return the authenticator apps and passkeys of the caller.

        Returns:
            Objects with `id`, `kind`, `name`, `created_at` and `last_used_at`.

        Example::

            names = [each.name for each in frontdesk.authenticators.list()]
        """
        require_mfa()
        return service(Authenticators).list(caller().account.id)

    def begin_app(self, name: str | None = None, *, mfa_token: str | None = None) -> AppSetup:
        """Begin the setup of an authenticator app, which `confirm_app` finishes within ten minutes.

        Args:
            name: Name of the app, for the user.
            mfa_token: The token from `EnrolmentRequired.members`, instead of a signed-in caller.

        Returns:
            The secret and the QR code.

        Raises:
            ReauthenticationRequired: The sign-in is too old.

        Example::

            setup = frontdesk.authenticators.begin_app("Phone")
            return render_template("set_up.html", qr=setup.qr, id=setup.id)
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
        """Confirm an authenticator app with one of its codes.

        Every earlier sign-in of the account ends, and a new one begins.

        Args:
            authenticator_id: Id of the app, from `begin_app`.
            otp: Code of the app.
            mfa_token: The token from `EnrolmentRequired.members`, instead of a signed-in caller.
            by_cookie: With `mfa_token`, set the session cookie instead of returning an access
                token. A caller with a cookie gets a new cookie without it.

        Returns:
            The same as `Frontdesk.sign_in`, with `recovery_codes`: ten codes with the first
            authenticator, None with later ones.

        Raises:
            WrongFactor: The code is wrong.

        Example::

            done = frontdesk.authenticators.confirm_app(app_id, request.form["otp"])
            return render_template("recovery_codes.html", codes=done["recovery_codes"])
        """
        options = build_options(by_cookie, caller=find_caller())
        enrollee = _find_enrollee(mfa_token)
        enrolled = service(AppEnrollment).confirm(enrollee, authenticator_id, otp, options)
        return dump(enrolled_read(), enrolled.outcome, recovery_codes=enrolled.recovery_codes)

    def remove(self, authenticator_id: int) -> JsonObject:
        """Remove an authenticator and all trusted devices, and with the last authenticator the
        recovery codes. All other sessions end.

        Args:
            authenticator_id: Id of the authenticator.

        Returns:
            The response of the route: the authenticator, and without `AUTH.SESSIONS` a new
            `access_token` with `expires` and `token_type`, because all earlier tokens have ended.

        Raises:
            Problem: With the code `last_factor`, if the account must have a second factor.

        Example::

            frontdesk.authenticators.remove(authenticator_id)
        """
        _check_fresh()
        removed = service(FactorChanges).remove(caller(), authenticator_id)
        return _dump(RemovedAuthenticator, removed)

    def make_recovery_codes(self) -> Sequence[str]:
        """Create ten new recovery codes, and invalidate earlier ones. All other sessions end.

        Without `AUTH.SESSIONS`, the caller's access token ends too: for clients with access tokens,
        use `replace_recovery_codes`.

        Returns:
            The codes, which cannot be read again.

        Raises:
            ReauthenticationRequired: The sign-in is too old.

        Example::

            codes = frontdesk.authenticators.make_recovery_codes()
        """
        codes: Sequence[str] = self.replace_recovery_codes()["recovery_codes"]
        return codes

    def replace_recovery_codes(self) -> JsonObject:
        """Create ten new recovery codes as `make_recovery_codes` does.

        Returns:
            The response of the route: `recovery_codes`, and without `AUTH.SESSIONS` a new
            `access_token` with `expires` and `token_type`, because all earlier tokens have ended.

        Raises:
            ReauthenticationRequired: The sign-in is too old.

        Example::

            return frontdesk.authenticators.replace_recovery_codes()
        """
        _check_fresh()
        renewed = service(FactorChanges).renew_recovery_codes(caller())
        return _dump(RecoveryCodesRead, renewed)


def _dump(schema: type[Schema], response: JsonObject) -> JsonObject:
    dumped: JsonObject = schema_instance(schema).dump(response)
    return dumped


def _check_fresh() -> None:
    require_mfa()
    check_active()
    service(Freshness).require_with_factor(caller())


def _find_enrollee(mfa_token: str | None) -> Enrollee:
    require_mfa()
    return find_enrollee(mfa_token)
