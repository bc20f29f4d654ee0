"""Checks of the application: secret key, settings, account model, decorators, MFA, brand."""

from collections.abc import Iterator

from flask import current_app

from ..accounts.models import keeps_dates
from ..auth.settings import AuthSettings
from ..auth.webauthn.relying_party import RelyingParty
from ..core.config.environment import is_foreign, variables
from ..core.context import current_frontdesk, find_context, service
from ..core.web.operation import find_misplaced_decorators
from ..delivery.mail.templates import Templates
from ..extension.production import MIN_KEY_BYTES, weakness
from ..extension.settings import NAMESPACES, ComposedSettings
from .findings import Finding
from .unread_settings import unread_names

# The minimum of WCAG for text of this size.
MIN_CONTRAST = 4.5

_NEW_KEY = f"Set SECRET_KEY to a random value of at least {MIN_KEY_BYTES} bytes."


def check_secret_key() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    if not settings.secret_key_is_set:
        text = f"SECRET_KEY is not set. {_NEW_KEY}"
        yield Finding("secret_key", "fault", text)
    elif why := weakness(settings.secret_key):
        yield Finding("secret_key", "fault", f"SECRET_KEY {why}. {_NEW_KEY}")


def check_settings() -> Iterator[Finding]:
    """An unknown name may belong to the application; a misspelt setting is an error."""
    for text in unread_names(find_context()):
        yield Finding("settings", "fault", text)
    if current_frontdesk.owns_application:
        return
    given = variables(ComposedSettings)
    names = sorted(name for name in given if "__" in name and is_foreign(name, None, NAMESPACES))
    if names:
        text = (
            "These names are no settings of Frontdesk, which ignores them:"
            f" {', '.join(names)}. Check their spelling."
        )
        yield Finding("settings", "warning", text)


def check_administration() -> Iterator[Finding]:
    """Warn if the account model lacks an optional column that user management needs."""
    context = current_frontdesk
    if "administration" in context.mounted.names and not keeps_dates(context.tables.account_model):
        text = (
            "The account model has no column suspended_until, so a suspension has no end date and"
            " lasts until an administrator ends it. Add the column, as in AccountMixin."
        )
        yield Finding("administration", "warning", text)


def check_guards() -> Iterator[Finding]:
    for endpoint in find_misplaced_decorators(current_app):
        text = (
            f"A decorator of '{endpoint}' is above its route and has no effect. Write the route"
            " first, and all other decorators below it."
        )
        yield Finding("guards", "fault", text)


def check_passkeys() -> Iterator[Finding]:
    if RelyingParty in current_frontdesk.services:
        for text in service(RelyingParty).misconfigurations():
            hint = "Check AUTH__WEBAUTHN_RP_ID and AUTH__WEBAUTHN_ORIGINS."
            yield Finding("passkeys", "fault", f"Browsers reject passkeys: {text}. {hint}")


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


def check_brand() -> Iterator[Finding]:
    contrast = service(Templates).brand.contrast
    if contrast < MIN_CONTRAST:
        text = (
            f"The text of buttons in emails has a contrast of {contrast:.1f}, and readable text has"
            f" at least {MIN_CONTRAST}. Leave BRAND__TEXT_COLOR empty, or set another BRAND__COLOR."
        )
        yield Finding("brand", "warning", text)
