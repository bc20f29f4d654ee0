"""Builds the services of authentication for one application."""

from datetime import timedelta
from urllib.parse import urlsplit

from ..accounts.actions import EMAIL_CHANGED
from ..accounts.service import Accounts, Reclaimer
from ..core.config.environment import SettingsError
from ..core.context import Context, DoctorChecks, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import RequestHeader
from ..delivery.mail.one_off import OneOffMail, OwnerMail
from ..delivery.mail.templates import Templates
from .email_change.proofs import EmailChangeProofs
from .email_change.service import EmailChangeNotices, EmailChanges
from .email_change.undo import EmailChangeUndo, EmailUndoStep
from .export import export_sign_in_data
from .idp.identities import Identities
from .limits import AccountUnlock, EmailChangeLimits, Failures, mail_limit
from .mails import Mails
from .passwords import PasswordChange
from .proofs import AccountProofs, Proofs, Purpose
from .recovery import RECOVERY, Recovery
from .settings import AuthSettings
from .sign_in.link import LINK, SignInLinks
from .sign_in.options import DEVICE_HEADER
from .sign_in.policy import SignInPolicy
from .sign_in_assembly import assemble as assemble_sign_in
from .sign_in_assembly import factor_feature
from .sign_up_policy import SignUpPolicy
from .step_up.service import Freshness


def assemble(context: Context) -> None:
    auth = context.settings.of(AuthSettings)
    _check(auth, context.settings.core.PUBLIC_URL)
    key, former_keys = context.settings.secret_key, context.settings.former_secret_keys
    context.add(Failures(context.keystore, auth))
    context.add(Proofs(key, former_keys, context.keystore, context.clock))
    context.add(SignUpPolicy(context.session, context.hooks, auth))
    context.provide(OwnerMail, _owner_mail)
    assemble_sign_in(context)
    context.provide(AccountUnlock, _account_unlock)
    context.provide(SignInLinks, _sign_in_links)
    context.provide(Mails, lambda known: Mails(auth, known.get(Templates)))
    context.provide(Recovery, _recovery)
    context.provide(PasswordChange, _password_change)
    context.provide(EmailChangeProofs, _email_change_proofs)
    context.provide(EmailChanges, _email_changes)
    context.provide(EmailChangeUndo, _email_change_undo)
    context.actions.on(
        EMAIL_CHANGED.name, lambda account, _: context.get(EmailChanges).end_all(account)
    )
    context.contribute(
        DataExporter(export_sign_in_data),
        DoctorChecks(f"{__package__}.doctor"),
        RequestHeader(DEVICE_HEADER),
        Reclaimer(lambda _session, account, _since: context.get(Identities).unlink(account)),
        Pruner("email_changes", lambda: context.get(EmailChanges).prune()),
    )
    # Both are in every report, also of an application without the feature.
    if not auth.stores_sessions:
        context.contribute(Pruner("sessions", lambda: 0))
    if not auth.keeps_authenticators:
        context.contribute(Pruner("second_factors", lambda: 0))
    if auth.has_providers:
        # Imported here, because few applications have identity providers.
        from .idp.assembly import assemble as assemble_providers

        assemble_providers(context, auth)


def _check(auth: AuthSettings, public_url: str | None) -> None:
    """Raise SettingsError for settings that have no effect by themselves."""
    if auth.keeps_cookies:
        _check_domain(auth.COOKIE_DOMAIN, public_url)
    if auth.REFRESH_TOKEN_DAYS and not auth.keeps_sessions:
        raise SettingsError("AUTH.REFRESH_TOKEN_DAYS is set, so AUTH.SESSIONS must be on.")
    if auth.PASSWORDS == "off" and not auth.has_providers and auth.LOGIN_BY_CODE == "off":
        raise SettingsError(
            "AUTH.PASSWORDS is off, so no user could sign in: set ENABLE_IDP_OAUTH, PROVIDERS or"
            " LOGIN_BY_CODE."
        )
    if auth.MFA == "off" and auth.MFA_REQUIRED_ROLES:
        raise SettingsError(
            "AUTH.MFA is off, so MFA_REQUIRED_ROLES has no effect: set it to `optional`."
        )
    if unknown := sorted(set(auth.MFA_REQUIRED_ROLES).difference(auth.ROLES)):
        raise SettingsError(
            f"AUTH.MFA_REQUIRED_ROLES has roles that are not in AUTH.ROLES: {', '.join(unknown)}."
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


def _owner_mail(context: Context) -> OwnerMail:
    one_off_mail = context.get(OneOffMail)  # type: ignore[type-abstract]
    return OwnerMail(one_off_mail, sends_notices=context.settings.of(AuthSettings).SECURITY_MAILS)


def _account_unlock(context: Context) -> AccountUnlock:
    factors = factor_feature(context)
    reset_limits = factors.reset_limits if factors else None
    return AccountUnlock(context.session, context.get(Failures), reset_limits)


def _recovery(context: Context) -> Recovery:
    auth, accounts = context.settings.of(AuthSettings), context.get(Accounts)
    purpose = Purpose(
        RECOVERY,
        token_life=timedelta(hours=auth.EMAIL_RESET_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.RESET_CODE_EXPIRE_MINUTES),
    )
    return Recovery(
        context.basics,
        accounts,
        AccountProofs(purpose, context.get(Proofs), accounts, context.tables.account_ids),
        mail_limit(context.get(Failures), auth, "recovery", auth.RECOVERY_LIMIT),
        auth.HIDE_ACCOUNTS,
        context.get(Failures),
        context.get(Mails),
        context.get(OwnerMail),
    )


def _sign_in_links(context: Context) -> SignInLinks:
    accounts, ids = context.get(Accounts), context.tables.account_ids
    proofs = AccountProofs(LINK, context.get(Proofs), accounts, ids, until_sign_in=True)
    return SignInLinks(context.basics, proofs, context.get(SignInPolicy))


def _password_change(context: Context) -> PasswordChange:
    return PasswordChange(
        context.basics,
        context.get(Accounts),
        context.get(SignInPolicy),
        context.get(Mails),
        context.get(OwnerMail),
        context.get(Freshness),
    )


def _email_changes(context: Context) -> EmailChanges:
    proofs = context.get(EmailChangeProofs)
    return EmailChanges(
        context.basics,
        context.get(Accounts),
        context.get(Freshness),
        EmailChangeLimits(context.keystore, context.settings.of(AuthSettings)),
        context.get(SignUpPolicy),
        proofs,
        context.get(SignInPolicy),
        EmailChangeNotices(proofs, context.get(Mails), context.get(OwnerMail)),
    )


def _email_change_undo(context: Context) -> EmailChangeUndo:
    return EmailChangeUndo(
        context.basics,
        context.get(Accounts),
        context.get(EmailChangeProofs),
        context.get(Recovery),
        lambda: context.all_contributions(EmailUndoStep),
    )


def _email_change_proofs(context: Context) -> EmailChangeProofs:
    auth = context.settings.of(AuthSettings)
    confirming = Purpose(
        "email-change",
        token_life=timedelta(hours=auth.EMAIL_TOKEN_EXPIRE_HOURS),
        code_life=timedelta(minutes=auth.EMAIL_CODE_EXPIRE_MINUTES),
    )
    undoing = Purpose("email-undo", token_life=timedelta(hours=auth.EMAIL_UNDO_HOURS))
    accounts, proofs = context.get(Accounts), context.get(Proofs)
    return EmailChangeProofs(context.session, accounts, proofs, confirming, undoing)
