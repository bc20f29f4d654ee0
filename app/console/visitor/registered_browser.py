"""Signs a user in after email verification, in the browser that registered the account.

The shared state store has the proof of the registration. Every registration sets the cookie, so
that it does not show whether the address has an account.
"""

from contextlib import suppress

from flask import Response

from ...accounts.models import AccountLike
from ...auth.sign_in.options import sign_in_options
from ...auth.sign_in.policy import response_payload
from ...core.context import service
from ...core.errors import Problem
from ...core.keystore import KeystoreUnavailable
from ...core.types import JsonObject
from ...registration.browser import BROWSER_SECONDS, RegisteredBrowsers
from ..api_calls import SIGN_IN_PROBLEMS
from ..cookies import BrowserEntry, delete_cookie
from .cookie_sign_in import prepare_sign_in

_PROOF = BrowserEntry("fd-registered", "registered")


def remember_registration(response: Response, browser_proof: str) -> Response:
    # Without the state store, the user signs in after the verification.
    with suppress(KeystoreUnavailable):
        _PROOF.store(response, browser_proof, BROWSER_SECONDS)
    return response


def forget_registration(response: Response) -> Response:
    delete_cookie(response, _PROOF.cookie)
    return response


def sign_in_after_verification(account: AccountLike) -> JsonObject | None:
    """Sign in if this browser registered the account with its current password, otherwise return
    None. Raises the problem of a second factor, which its page then asks for."""
    try:
        proof = _PROOF.take()
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
