"""The services of authentication, put together for one application."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from importlib.util import find_spec

from ..accounts.service import Accounts
from ..core.desk import Desk
from ..core.settings import SettingsError, reveal
from ..delivery.post import Post
from .idp import IdpSignIn, Provider
from .limits import Failures, RecoveryRequests
from .login import Login
from .mails import Mails
from .recovery import Recovery
from .redirects import RedirectUris
from .reset_tokens import ResetTokens
from .revocation import Revocations
from .sessions import Sessions
from .tokens import Tokens


def furnish(desk: Desk, accounts: Accounts, post: Post) -> None:
    settings, core, auth = desk.settings, desk.settings.core, desk.settings.auth
    fallbacks = [key.get_secret_value() for key in core.SECRET_KEY_FALLBACKS]
    lifetime = timedelta(minutes=auth.ACCESS_TOKEN_EXPIRE_MINUTES)
    sessions = Sessions(
        desk.session,
        accounts,
        Tokens(settings.secret_key, fallbacks, lifetime, desk.clock),
        Revocations(desk.keystore, int(lifetime.total_seconds())),
        desk.emitter,
        desk.hooks,
        desk.clock,
        active_statuses=frozenset(desk.hooks.active_statuses or auth.ACTIVE_STATUSES),
        logout_is_final=auth.LOGOUT_IS_FINAL,
    )
    failures = Failures(desk.keystore, auth)
    reset_tokens = ResetTokens(
        settings.secret_key,
        fallbacks,
        accounts,
        desk.keystore,
        desk.clock,
        token_life=timedelta(hours=auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.RESET_CODE_EXPIRE_MINUTES),
    )
    desk.add(sessions)
    desk.add(failures)
    desk.add(Login(desk.session, accounts, accounts.passwords, sessions, failures))
    desk.add(
        Recovery(
            desk.session,
            accounts,
            accounts.passwords,
            sessions,
            reset_tokens,
            RecoveryRequests(desk.keystore, auth),
            failures,
            desk.emitter,
            desk.hooks,
            Mails(core, auth),
            post,
            desk.clock,
        )
    )
    if auth.ENABLE_IDP_OAUTH:
        _furnish_idp(desk, accounts, sessions)


def _furnish_idp(desk: Desk, accounts: Accounts, sessions: Sessions) -> None:
    core, auth = desk.settings.core, desk.settings.auth
    for name in ("IDP_METADATA_URL", "IDP_OAUTH_CLIENT_ID"):
        if not getattr(auth, name):
            raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, so {name} must be set.")
    if not all(find_spec(library) for library in ("authlib", "joserfc", "requests")):
        raise SettingsError(
            "AUTH.ENABLE_IDP_OAUTH is on, so Authlib is needed: install flask-frontdesk[idp]."
        )

    @cache
    def open_provider() -> Provider:
        from .oidc import OpenIdProvider

        return OpenIdProvider(
            auth.IDP_METADATA_URL,
            auth.IDP_OAUTH_CLIENT_ID,
            reveal(auth.IDP_OAUTH_CLIENT_SECRET),
            pkce=auth.IDP_REQUIRE_SESSION,
        )

    desk.add(RedirectUris(auth.IDP_REDIRECT_URI, core.CLIENT_HOST, auth.IDP_ALLOWED_REDIRECT_URIS))
    desk.add(
        IdpSignIn(
            desk.session,
            open_provider,
            accounts,
            sessions,
            desk.emitter,
            may_sign_up=auth.ALLOW_IDP_OAUTH_SIGNUP,
            needs_session=auth.IDP_REQUIRE_SESSION,
        )
    )
