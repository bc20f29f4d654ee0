"""What the doctor finds in how the application was put together."""

from __future__ import annotations

from collections.abc import Iterator

from flask import current_app

from ..accounts.models import keeps_dates
from ..auth.passkeys.relying_party import RelyingParty
from ..core.config.environment import is_foreign, variables
from ..core.context import current_frontdesk, find_context, service
from ..core.web.operation import find_misplaced_decorators
from ..delivery.mail.templates import Templates
from ..extension.production import weakness
from ..extension.settings import NAMESPACES, ComposedSettings
from .findings import Finding
from .unread_settings import unread_names

# What WCAG asks for at this size.
LEAST_CONTRAST = 4.5


def check_secret_key() -> Iterator[Finding]:
    settings = current_frontdesk.settings
    if not settings.secret_key_is_set:
        yield Finding("secret_key", "fault", "SECRET_KEY is not set; set it to a random value")
    elif why := weakness(settings.secret_key):
        yield Finding("secret_key", "fault", f"SECRET_KEY {why}")


def check_settings() -> Iterator[Finding]:
    """An unknown name may belong to the application; a misspelt setting is an error."""
    for text in unread_names(find_context()):
        yield Finding("settings", "fault", text)
    if current_frontdesk.owns_application:
        return
    given = variables(ComposedSettings)
    left = sorted(name for name in given if "__" in name and is_foreign(name, None, NAMESPACES))
    if left:
        text = f"{', '.join(left)}: no settings of ours, and left to the application"
        yield Finding("settings", "warning", text)


def check_administration() -> Iterator[Finding]:
    """What accounts may do without, and their administrators then have to."""
    context = current_frontdesk
    if "administration" in context.mounted.names and not keeps_dates(context.tables.account_model):
        text = (
            "the account model has no column suspended_until: a suspension has no date, and lasts"
            " until somebody ends it; AccountMixin has the column"
        )
        yield Finding("administration", "warning", text)


def check_guards() -> Iterator[Finding]:
    for endpoint in find_misplaced_decorators(current_app):
        text = (
            f"a decorator of '{endpoint}' stands above its route and does nothing: write the route"
            " first and the others below it"
        )
        yield Finding("guards", "fault", text)


def check_passkeys() -> Iterator[Finding]:
    if RelyingParty in current_frontdesk.services:
        for text in service(RelyingParty).misconfigurations():
            hint = "see AUTH__WEBAUTHN_RP_ID and AUTH__WEBAUTHN_ORIGINS"
            yield Finding("passkeys", "fault", f"{text}; {hint}")


def check_brand() -> Iterator[Finding]:
    contrast = service(Templates).brand.contrast
    if contrast < LEAST_CONTRAST:
        text = (
            f"a button's text can hardly be read in mails, at a contrast of {contrast:.1f}:"
            " leave BRAND__TEXT_COLOR empty, or take another BRAND__COLOR"
        )
        yield Finding("brand", "warning", text)
