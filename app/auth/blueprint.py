"""The blueprint of sign-in and account routes, which are in several files."""

from flask import request

from ..accounts.service import Accounts
from ..core.web.blueprint import Blueprint
from .idp.session_cookie import prepare_session

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
blueprint.record(prepare_session)


def client_ip_address() -> str:
    """Return the IP address of the client; headers of trusted proxies are respected."""
    return request.remote_addr or ""
