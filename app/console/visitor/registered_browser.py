"""Signs a user in after email verification, in the browser that registered the account.

A cookie has a random key, the shared state store the proof of the registration. Every registration
sets the cookie, so that it does not show whether the address has an account.
"""

import re
import secrets

from flask import Response

from ...accounts.models import AccountLike
from ...auth.sign_in.options import sign_in_options
from ...auth.sign_in.policy import response_payload
from ...core.context import current_frontdesk, service
from ...core.errors import Problem
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...registration.browser import BROWSER_SECONDS, RegisteredBrowsers
from ..api_calls import SIGN_IN_PROBLEMS
from ..cookies import delete_cookie, read_cookie, set_cookie
from .cookie_sign_in import prepare_sign_in

COOKIE = "fd-registered"
_KEY = re.compile(r"[\w-]{43}", re.ASCII)


def remember_registration(response: Response, browser_proof: str) -> Response:
    key = secrets.token_urlsafe()
    try:
        current_frontdesk.keystore.put(_entry(key), browser_proof, BROWSER_SECONDS)
    except KeystoreUnavailable:
        # The user signs in after the verification.
        return response
    set_cookie(response, COOKIE, key, BROWSER_SECONDS)
    return response


def forget_registration(response: Response) -> Response:
    delete_cookie(response, COOKIE)
    return response


def sign_in_after_verification(account: AccountLike) -> JsonObject | None:
    """Sign in if this browser registered the account with its current password, otherwise return
    None. Raises the problem of a second factor, which its page then asks for."""
    key = read_cookie(COOKIE) or ""
    if not _KEY.fullmatch(key):
        return None
    try:
        proof = current_frontdesk.keystore.take(_entry(key))
    except KeystoreUnavailable:
        return None
    if not proof:
        return None
    prepare_sign_in()
    try:
        outcome = service(RegisteredBrowsers).sign_in(account, proof, sign_in_options())
        return None if outcome is None else response_payload(outcome)
    except SIGN_IN_PROBLEMS:
        raise
    except Problem:
        # The sign-in page shows why the account cannot sign in.
        return None


def _entry(key: str) -> str:
    return f"registered:{key}"
