"""The session that a sign-in through a provider needs, looked at when the blueprint is mounted."""

from __future__ import annotations

import logging
from typing import cast

from flask import Flask
from flask.blueprints import BlueprintSetupState
from flask.sessions import SecureCookieSessionInterface

from ..core.desk import EXTENSION
from ..core.errors import SetupError
from .idp import IdpSignIn

log = logging.getLogger(__name__)


def prepare_session(state: BlueprintSetupState) -> None:
    app = cast(Flask, state.app)
    if IdpSignIn not in app.extensions[EXTENSION].services:
        return
    is_signed_cookie = isinstance(app.session_interface, SecureCookieSessionInterface)
    if is_signed_cookie and not app.secret_key:
        raise SetupError(
            f"The blueprint '{state.blueprint.name}' cannot be mounted: AUTH.ENABLE_IDP_OAUTH keeps"
            " a sign-in's state in the session, which needs app.config['SECRET_KEY']."
        )
    # With Lax the cookie comes along when the provider leads back, and not with others' forms.
    app.config["SESSION_COOKIE_SAMESITE"] = app.config["SESSION_COOKIE_SAMESITE"] or "Lax"
    if not (app.config["SESSION_COOKIE_SECURE"] or app.debug):
        log.warning("SESSION_COOKIE_SECURE is off: the session's cookie also travels without TLS.")
