"""Builds the services of identity providers, for an application that has any."""

from collections.abc import Iterator
from dataclasses import replace

from ...accounts.service import Accounts
from ...core.config.environment import SettingsError
from ...core.context import Context, Pruner
from ...core.data_export import DataExporter
from ...core.extras import missing_extra
from ...delivery.mail.one_off import OwnerMail
from ..features import MembershipFeature
from ..login_codes.service import code_limit, code_mails, code_purpose
from ..mails import Mails
from ..proofs import Proofs
from ..sealing import Sealing, encryption_keys
from ..settings import AuthSettings
from ..sign_in.policy import SignInPolicy
from ..sign_up_policy import SignUpPolicy
from .email_codes import IDENTITY_EMAIL, EmailCodes
from .grants import ProviderGrants, export_grants
from .identities import Identities, UnlinkEffect
from .linking import AccountLinking
from .provider import DEFAULT, OIDC, Provider, RedirectUris, title_of
from .provider_models import ProviderGrant, ProviderSession
from .provider_sessions import ENDING_ACTIONS, ProviderSessions
from .providers import Providers
from .service import IdpSignIn
from .sign_out import ProviderSignOut


def assemble(context: Context, auth: AuthSettings) -> None:
    core = context.settings.core
    if line := missing_extra("idp"):
        setting = "ENABLE_IDP_OAUTH is on" if auth.ENABLE_IDP_OAUTH else "PROVIDERS is set"
        raise SettingsError(f"AUTH.{setting}, and needs an extra: {line}")

    context.add(Providers(_providers(auth)))
    hosts = [core.CLIENT_HOST, *filter(None, [core.PUBLIC_URL if core.CONSOLE_ENABLED else None])]
    context.add(RedirectUris(auth.IDP_REDIRECT_URI, hosts, auth.IDP_ALLOWED_REDIRECT_URIS))
    context.tables.add(ProviderGrant)
    if auth.stores_sessions:
        _assemble_sessions(context, auth)
    context.provide(AccountLinking, _account_linking)
    context.provide(IdpSignIn, _idp_sign_in)
    context.provide(ProviderSignOut, _sign_out)
    context.provide(ProviderGrants, _provider_grants)
    context.contribute(
        UnlinkEffect(lambda *given: context.get(ProviderGrants).release(*given)),
        DataExporter(export_grants),
    )


def _providers(auth: AuthSettings) -> Iterator[Provider]:
    """Yield the provider of the settings `IDP_…`, and those of AUTH.PROVIDERS."""
    if auth.ENABLE_IDP_OAUTH:
        for name in ("IDP_METADATA_URL", "IDP_OAUTH_CLIENT_ID"):
            if not getattr(auth, name):
                raise SettingsError(f"AUTH.ENABLE_IDP_OAUTH is on, so {name} must be set.")
        yield Provider(
            DEFAULT,
            OIDC,
            auth.IDP_OAUTH_CLIENT_ID,
            title_of(auth.IDP_METADATA_URL),
            auth.IDP_OAUTH_CLIENT_SECRET,
            auth.IDP_REDIRECT_URI,
            auth.IDP_METADATA_URL,
            auth.IDP_ISSUER,
            needs_session=auth.IDP_REQUIRE_SESSION,
        )
    for provider in auth.PROVIDERS.values():
        if unknown := sorted({*provider.roles.values()}.difference(auth.ROLES)):
            raise SettingsError(
                f"AUTH.PROVIDERS: the identity provider {provider.name} has roles that are not in"
                f" AUTH.ROLES: {', '.join(unknown)}."
            )
        redirect_uri = provider.redirect_uri or auth.IDP_REDIRECT_URI
        if provider.posts_form and not redirect_uri:
            raise SettingsError(
                f"AUTH.PROVIDERS: the identity provider {provider.name} needs redirect_uri, or set"
                " IDP_REDIRECT_URI."
            )
        yield replace(provider, redirect_uri=redirect_uri)


def _assemble_sessions(context: Context, auth: AuthSettings) -> None:
    context.tables.add(ProviderSession)
    sealing, limits = Sealing(encryption_keys(context.settings)), auth.session_limits
    context.provide(
        ProviderSessions,
        lambda known: ProviderSessions(known.basics, known.get(Accounts).model, sealing, limits),
    )
    for action in ENDING_ACTIONS:
        context.actions.add_effect(
            action, lambda account_id, _: context.get(ProviderSessions).clear(account_id)
        )
    context.contribute(Pruner("provider_sessions", lambda: context.get(ProviderSessions).prune()))


def _idp_sign_in(context: Context) -> IdpSignIn:
    keeps = context.settings.of(AuthSettings).stores_sessions
    return IdpSignIn(
        context.basics,
        context.get(SignInPolicy),
        context.get(AccountLinking),
        context.get(SignUpPolicy),
        EmailCodes(
            context.get(Proofs),
            code_purpose(context, IDENTITY_EMAIL),
            code_limit(context),
            code_mails(context).send_code,
        ),
        context.get(ProviderSessions) if keeps else None,
        context.get(ProviderGrants),
    )


def _sign_out(context: Context) -> ProviderSignOut:
    auth, core = context.settings.of(AuthSettings), context.settings.core
    return ProviderSignOut(
        context.basics,
        context.get(Providers),
        context.get(ProviderSessions) if auth.stores_sessions else None,
        core.page_url(auth.POST_LOGOUT_PATH) if auth.POST_LOGOUT_PATH else None,
        context.get(Accounts),
        context.get(Identities),
        keeps_sessions=auth.keeps_sessions,
    )


def _provider_grants(context: Context) -> ProviderGrants:
    accounts, providers = context.get(Accounts), context.get(Providers)
    return ProviderGrants(
        context.basics, accounts, providers, lambda: context.all_contributions(MembershipFeature)[0]
    )


def _account_linking(context: Context) -> AccountLinking:
    mails, owner_mail = context.get(Mails), context.get(OwnerMail)
    return AccountLinking(
        context.basics,
        context.get(Providers),
        context.get(Accounts),
        context.get(Identities),
        context.get(Proofs),
        context.tables.account_ids,
        context.settings.of(AuthSettings).IDP_LINKING,
        lambda email, issuer: owner_mail.notify(mails.identity_linked(email, issuer)),
    )
