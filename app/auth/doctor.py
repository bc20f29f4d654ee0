"""Checks of the enabled features: identity provider, MFA, passkeys and signing keys."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ..core.config.environment import SettingsError
from ..core.context import current_frontdesk, find_context, service
from ..core.doctor import LOOPBACK, Check, Finding, exposed
from ..core.process.folders import is_exposed
from .errors import ProviderUnavailable
from .idp.provider import Provider
from .idp.providers import Providers
from .settings import AuthSettings
from .webauthn.relying_party import RelyingParty


def check_idp() -> Iterator[Finding]:
    if not find_context().has(Providers):
        return
    for provider in service(Providers).values():
        yield from _check_provider(provider)


def _check_provider(provider: Provider) -> Iterator[Finding]:
    setting, named = "IDP_METADATA_URL", "The identity provider"
    if not provider.is_default:
        setting, named = f"AUTH__PROVIDERS, {provider.name}", f"{named} {provider.name}"
    file = Path(provider.secret_file)
    if provider.secret_file and is_exposed(file):
        yield exposed(file, f"chmod go= {shlex.quote(provider.secret_file)}")
    # GitHub has no document.
    url = urlsplit(provider.metadata_url or provider.issuer)
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        text = (
            f"{setting} is an http:// URL, so an attacker on the network can impersonate the"
            " identity provider. Use an https:// URL."
        )
        yield Finding("idp", "warning", text)
    try:
        service(Providers).client(provider.name).begin(current_frontdesk.settings.core.CLIENT_HOST)
    except ProviderUnavailable as error:
        from .idp.discovery import InvalidProviderResponse  # imports a large library

        cause = error.__cause__
        is_response = isinstance(cause, InvalidProviderResponse)
        reason = f"{cause}" if is_response else type(cause).__name__
        address = url.netloc.rpartition("@")[2]
        text = (
            f"{named} at {address} cannot be used: {reason}. Check that the provider"
            f" runs, and check {setting}."
        )
        yield Finding("idp", "fault", text)


def check_second_factors() -> Iterator[Finding]:
    auth = current_frontdesk.settings.of(AuthSettings)
    if auth.MFA == "off":
        return
    if not auth.ENCRYPTION_KEYS:
        text = (
            "AUTH__ENCRYPTION_KEYS is not set, so MFA secrets are encrypted with SECRET_KEY. If"
            " SECRET_KEY changes and CORE__SECRET_KEY_FALLBACKS lacks the old key, no authenticator"
            " app works. Set AUTH__ENCRYPTION_KEYS."
        )
        yield Finding("second_factors", "warning", text)
    if not auth.RATE_LIMITS_ENABLED:
        text = (
            "AUTH__RATE_LIMITS_ENABLED is off, so attackers can guess the six-digit codes of"
            " authenticator apps. Set AUTH__RATE_LIMITS_ENABLED=true."
        )
        yield Finding("second_factors", "warning", text)


def check_passkeys() -> Iterator[Finding]:
    if not current_frontdesk.provides(RelyingParty):
        return
    for text in service(RelyingParty).misconfigurations():
        hint = "Check AUTH__WEBAUTHN_RP_ID and AUTH__WEBAUTHN_ORIGINS."
        yield Finding("passkeys", "fault", f"Browsers reject passkeys: {text}. {hint}")


def check_signing_keys() -> Iterator[Finding]:
    if not current_frontdesk.settings.of(AuthSettings).SIGNING_KEYS:
        return
    from .tokens.signing_keys import SigningKeys

    keys = service(SigningKeys)
    try:
        keys.read()
    except SettingsError as error:
        yield Finding("signing_keys", "fault", str(error))
    if keys.path is not None and is_exposed(keys.path):
        yield exposed(keys.path, f"chmod go= {shlex.quote(str(keys.path))}")


CHECKS = (
    Check(check_second_factors),
    Check(check_passkeys),
    Check(check_signing_keys),
    Check(check_idp, "servers"),
)
