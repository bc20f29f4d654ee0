"""The blueprint of sign-in and account routes, which are in several files."""

from flask import request

from ..accounts.service import Accounts
from ..core.web.blueprint import Blueprint
from .idp.session_cookie import prepare_session

blueprint = Blueprint(
    "auth", __name__, needs=Accounts, about="Sign-in, sign-out, account, password recovery"
)
blueprint.record(prepare_session)


def client_ip_address() -> str:
    """Return the IP address of the client; headers of trusted proxies are respected."""
    return request.remote_addr or ""
