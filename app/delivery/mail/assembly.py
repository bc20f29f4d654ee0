"""The services that send email, which every application has."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from sqlalchemy import select
from werkzeug.local import LocalProxy

from ...core.context import Context, DoctorChecks
from .base import Mailer
from .brand import BrandSettings
from .mailer import open_mailer
from .one_off import BackgroundMail, OneOffMail
from .settings import MailSettings
from .templates import PasswordUse, Templates

if TYPE_CHECKING:
    from flask_mail import Mail


def assemble(context: Context) -> None:
    mailer = open_mailer(context.app, context.settings)
    one_off_mail = context.parts["one_off_mail"]
    # Compared with None, because an empty outbox of tests is false.
    if one_off_mail is None:
        one_off_mail = BackgroundMail(mailer, context.clock.now)
    # Those of SMS and of the queue too.
    context.contribute(DoctorChecks(f"{__package__.rpartition('.')[0]}.doctor"))
    context.add(mailer, Mailer)
    core, brand = context.settings.core, context.settings.of(BrandSettings)
    find_locale, password_use = partial(_find_locale, context), context.contributions(PasswordUse)
    context.add(Templates(context.app, core, brand, find_locale, password_use))
    context.add(one_off_mail, OneOffMail)
    context.app.extensions.setdefault("mail", _flask_mail(context, mailer))


def _find_locale(context: Context, email: str) -> str | None:
    """Return the language of the account with this email address, if the model has languages."""
    account = context.tables.account_model
    locale = getattr(account, "locale", None)
    if account is None or locale is None:
        return None
    with context.session.no_autoflush:
        found: str | None = context.session.scalar(select(locale).where(account.email == email))
    return found


def _flask_mail(context: Context, mailer: Mailer) -> object:
    """Return Flask-Mail's `Mail`, created when it is first used, for an application without one."""

    @cache
    def create() -> Mail:
        from .hardened_mail import HardenedMail

        mail = MailSettings.read(context.app.config, context.settings)
        return HardenedMail(context.app, mailer, mail)

    return LocalProxy(create)
