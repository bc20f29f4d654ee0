"""Builds the services of authentication for one application."""

from datetime import timedelta
from functools import cache
from urllib.parse import urlsplit

from ..accounts.actions import EMAIL_CHANGED
from ..accounts.service import Accounts
from ..core.config.environment import SettingsError
from ..core.config.settings import reveal
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter
from ..core.extras import missing_extra
from ..core.web.operation import RequestHeader
from ..delivery.mail.one_off import OneOffMail, OwnerMail
from ..delivery.mail.templates import Templates
from .email_change.proofs import EmailChangeProofs
from .email_change.service import EmailChangeNotices, EmailChangeRules, EmailChanges
from .email_change.undo import EmailChangeUndo, EmailUndoStep
from .errors import IdpDisabled
from .export import export_sign_in_data
from .features import FactorFeature
from .idp.identities import Identities
from .idp.redirects import RedirectUris
from .idp.service import IdentityNotices, IdpSignIn, Provider, ProviderAccess
from .limits import AccountUnlock, EmailChangeLimits, Failures, RecoveryRequests
from .mails import Mails
from .passwords import PasswordChange
from .proofs import AccountProofs, Proofs, Purpose
from .recovery import RECOVERY, Recovery
from .settings import AuthSettings
from .sign_in.options import DEVICE_HEADER
from .sign_in.policy import SignInPolicy
from .sign_in_assembly import assemble as assemble_sign_in
from .sign_up_policy import SignUpPolicy
from .step_up.service import Freshness


def assemble_proofs(context: Context) -> None:
    """Add the services that check and rate-limit proofs, before the services that sign in."""
    auth = context.settings.of(AuthSettings)
    _check(auth, context.settings.core.PUBLIC_URL)
    context.contribute(DataExporter(export_sign_in_data), RequestHeader(DEVICE_HEADER))
    context.add(Failures(context.keystore, auth))
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    context.add(OwnerMail(one_off_mail, sends_notices=auth.SECURITY_MAILS))
    keys = context.settings.former_secret_keys
    context.add(Proofs(context.settings.secret_key, keys, context.keystore, context.clock))


def assemble(context: Context) -> None:
    auth = context.settings.of(AuthSettings)
    assemble_sign_in(context)
    reset_limits = context.get(FactorFeature).reset_limits if auth.keeps_authenticators else None
    context.add(AccountUnlock(context.session, context.get(Failures), reset_limits))
    _assemble_mailed_proofs(context, auth)
    context.contribute(Pruner("email_changes", context.get(EmailChanges).prune))
    # Both are in every report, also of an application without the feature.
    if not (auth.keeps_sessions or auth.keeps_cookies):
        context.contribute(Pruner("sessions", lambda: 0))
    if not auth.keeps_authenticators:
        context.contribute(Pruner("second_factors", lambda: 0))
    if auth.ENABLE_IDP_OAUTH:
        _assemble_idp(context, auth)
        context.contribute(DoctorChecks(f"{__package__}.idp.doctor"))
    else:
        context.mark_unavailable(IdpDisabled, IdpSignIn)


def _check(auth: AuthSettings, public_url: str | None) -> None:
    """Raise SettingsError for settings that have no effect by themselves."""
    if auth.keeps_cookies:
        _check_domain(auth.COOKIE_DOMAIN, public_url)
    if auth.REFRESH_TOKEN_DAYS and not auth.keeps_sessions:
        raise SettingsError("AUTH.REFRESH_TOKEN_DAYS is set, so AUTH.SESSIONS must be on.")
    if auth.MFA == "off" and auth.MFA_REQUIRED_ROLES:
        raise SettingsError(
            "AUTH.MFA is off, so MFA_REQUIRED_ROLES has no effect: set it to `optional`."
        )
    if auth.MFA != "off" and not auth.MFA_METHODS:
        raise SettingsError(f"AUTH.MFA is `{auth.MFA}`, so MFA_METHODS must name one at least.")


def _check_domain(domain: str, public_url: str | None) -> None:
    """Raise SettingsError for a cookie domain that excludes this server: browsers ignore it."""
    host = urlsplit(public_url or "").hostname
    if domain and host and not f".{host}".endswith(f".{domain.lower().lstrip('.')}"):
        raise SettingsError(
            f"AUTH.COOKIE_DOMAIN is {domain}, and CORE.PUBLIC_URL is not under it: {public_url}."
        )


def _assemble_mailed_proofs(context: Context, auth: AuthSettings) -> None:
    """Add password recovery, and changes of password and email address."""
    accounts = context.get(Accounts)
    policy, freshness = context.get(SignInPolicy), context.get(Freshness)
    sign_up_policy = SignUpPolicy(context.session, context.hooks, auth)
    context.add(sign_up_policy)
    proofs = context.get(Proofs)
    mails = Mails(auth, context.get(Templates))
    context.add(mails)
    owner_mail = context.get(OwnerMail)
    recovering = Purpose(
        RECOVERY,
        token_life=timedelta(hours=auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.RESET_CODE_EXPIRE_MINUTES),
    )
    recovery = Recovery(
        context.basics,
        accounts,
        AccountProofs(recovering, proofs, accounts, context.tables.account_ids),
        RecoveryRequests(context.keystore, auth),
        context.get(Failures),
        mails,
        owner_mail,
    )
    context.add(recovery)
    context.add(PasswordChange(context.basics, accounts, policy, mails, owner_mail, freshness))
    change_proofs = _email_change_proofs(context, accounts, proofs, auth)
    changes = EmailChanges(
        context.basics,
        accounts,
        freshness,
        EmailChangeRules(EmailChangeLimits(context.keystore, auth), sign_up_policy),
        change_proofs,
        policy,
        EmailChangeNotices(change_proofs, mails, owner_mail),
    )
    context.add(changes)
    identities = context.get(Identities)
    context.add(
        EmailChangeUndo(
            context.basics,
            accounts,
            change_proofs,
            identities,
            recovery,
            context.contributions(EmailUndoStep),
        )
    )
    context.actions.on(EMAIL_CHANGED.name, lambda account, _: changes.end_all(account))


def _email_change_proofs(
    context: Context, accounts: Accounts, proofs: Proofs, auth: AuthSettings
) -> EmailChangeProofs:
    confirming = Purpose(
        "email-change",
        token_life=timedelta(hours=auth.EMAIL_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.EMAIL_CODE_EXPIRE_MINUTES),
    )
    undoing = Purpose("email-undo", token_life=timedelta(hours=auth.EMAIL_UNDO_HOURS))
    return EmailChangeProofs(context.session, accounts, proofs, confirming, undoing)


def _assemble_idp(context: Context, auth: AuthSettings) -> None:
    core = context.settings.core
    for name in ("IDP_METADATA_URL", "IDP_OAUTH_CLIENT_ID"):
        if not getattr(auth, name):
            raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, so {name} must be set.")
    if line := missing_extra("idp"):
        raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, and needs an extra: {line}")

    @cache
    def open_provider() -> Provider:
        from .idp.oidc import OpenIdProvider

        return OpenIdProvider(
            auth.IDP_METADATA_URL,
            auth.IDP_OAUTH_CLIENT_ID,
            reveal(auth.IDP_OAUTH_CLIENT_SECRET),
            pkce=auth.IDP_REQUIRE_SESSION,
        )

    hosts = [core.CLIENT_HOST, *filter(None, [core.PUBLIC_URL if core.CONSOLE_ENABLED else None])]
    context.add(RedirectUris(auth.IDP_REDIRECT_URI, hosts, auth.IDP_ALLOWED_REDIRECT_URIS))
    context.add(
        IdpSignIn(
            context.basics,
            ProviderAccess(open_provider, auth.IDP_REQUIRE_SESSION),
            context.get(Accounts),
            context.get(Identities),
            context.get(SignInPolicy),
            IdentityNotices(context.get(Mails), context.get(OwnerMail)),
            context.get(SignUpPolicy),
        )
    )
