"""The first steps after the installation, which the overview shows to root until all are done."""

from collections.abc import Iterable
from typing import NamedTuple

from flask import Response
from sqlalchemy import select

from ...accounts.service import Accounts
from ...auth.caller import caller
from ...auth.settings import AuthSettings
from ...core.config.settings import CoreSettings
from ...core.context import current_frontdesk, service
from ...core.doctor import Finding
from ...delivery.mail.brand import BrandSettings
from ...notifications.models import IS_BROADCAST, Notification
from ..api_calls import console_form
from ..cookies import A_YEAR, read_cookie, set_cookie
from ..first_run.first_root import ROOT
from ..links import redirect_to
from ..navigation import ADMINS
from ..resources import Features
from .filters import admins_only

# The name of the brand without settings.
_DEFAULT_NAME = CoreSettings.model_fields["PROJECT_NAME"].default
_COOKIE = "fd-checklist"


class FirstStep(NamedTuple):
    name: str
    is_done: bool


def checklist(findings: Iterable[Finding], features: Features) -> list[FirstStep]:
    """Return the steps; none if all are done, if this browser hides them, or for other admins."""
    if caller().account.role != ROOT or read_cookie(_COOKIE):
        return []
    frontdesk, found = current_frontdesk, {each.check for each in findings}
    auth, brand = frontdesk.settings.of(AuthSettings), frontdesk.settings.of(BrandSettings)
    model = service(Accounts).model
    # The first condition selects the partial index of accounts with a role other than `user`.
    admins = select(model.id).where(model.role != "user", model.role.in_(ADMINS)).limit(2)
    sent = select(Notification.id).where(IS_BROADCAST).limit(1)
    has_keys = auth.MFA == "off" or bool(auth.ENCRYPTION_KEYS)
    steps = [
        FirstStep("mail", "mail" not in found),
        FirstStep("keys", has_keys and not found & {"secret_key", "signing_keys"}),
        FirstStep("admin", len(frontdesk.session.scalars(admins).all()) > 1),
        FirstStep("brand", brand != BrandSettings(NAME=_DEFAULT_NAME)),
    ]
    if features.has(".compose_page"):
        steps.append(FirstStep("broadcast", frontdesk.session.scalar(sent) is not None))
    return [] if all(step.is_done for step in steps) else steps


@console_form()
@admins_only
def hide_checklist() -> Response:
    response = redirect_to(".admin_home_page")
    set_cookie(response, _COOKIE, "hidden", A_YEAR)
    return response
