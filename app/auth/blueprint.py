"""The blueprint of sign-in and account routes, which are in several files."""

import logging
from typing import cast

from flask import Flask, request
from flask.blueprints import BlueprintSetupState
from flask.sessions import SecureCookieSessionInterface

from ..accounts.service import Accounts
from ..core.context import EXTENSION
from ..core.errors import SetupError
from ..core.web.blueprint import Blueprint
from .idp.providers import Providers

log = logging.getLogger(__name__)

_SIGN_IN = """\
curl "$server{login}" -d username=ada@example.com --data-urlencode "password=$password"
# The response has `access_token`.
token=…
curl "$server{get_account}" -H "Authorization: Bearer $token"
curl -X DELETE "$server{logout}" -H "Authorization: Bearer $token"
"""
blueprint = Blueprint(
    "auth",
    __name__,
    needs=Accounts,
    about="Sign-in, sign-out, account, password recovery",
    flow=("Sign in and sign out", _SIGN_IN),
)


@blueprint.record
def check_session(state: BlueprintSetupState) -> None:
    """Check the Flask session, which has the state of a sign-in through an identity provider."""
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


def client_ip_address() -> str:
    """Return the IP address of the client; headers of trusted proxies are respected."""
    return request.remote_addr or ""
