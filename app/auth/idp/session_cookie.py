"""The Flask session of a sign-in through a provider, checked when the blueprint is mounted."""

import logging
from typing import Any, cast

from flask import Flask, Response
from flask.blueprints import BlueprintSetupState
from flask.sessions import SecureCookieSessionInterface

from ...core.context import EXTENSION
from ...core.errors import SetupError
from .providers import Providers

log = logging.getLogger(__name__)


class ProviderStart(Response):
    """The response that begins at the provider. Its session cookie has SameSite=Lax by default.

    Browsers send such a cookie when the provider redirects back, but not with forms of other sites.
    The session cookie of all other responses keeps the application's setting.
    """

    def set_cookie(self, *args: Any, **options: Any) -> None:
        super().set_cookie(*args, **{**options, "samesite": options.get("samesite") or "Lax"})


def prepare_session(state: BlueprintSetupState) -> None:
    app = cast(Flask, state.app)
    if not app.extensions[EXTENSION].has(Providers):
        return
    is_signed_cookie = isinstance(app.session_interface, SecureCookieSessionInterface)
    if is_signed_cookie and not app.secret_key:
        raise SetupError(
            f"The blueprint '{state.blueprint.name}' cannot be mounted: sign-in through an identity"
            " provider keeps its state in the session, which needs app.config['SECRET_KEY']."
        )
    if not (app.config["SESSION_COOKIE_SECURE"] or app.debug):
        log.warning("SESSION_COOKIE_SECURE is off: browsers also send the cookie without TLS.")
