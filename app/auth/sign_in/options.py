"""What a client sends with a sign-in besides its proof."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ...core.errors import Problem
from ...core.request import unwrap_request

if TYPE_CHECKING:
    from ..caller import Caller

# The kind of credential of a session cookie.
COOKIE_CREDENTIAL = "cookie"

# The secret of a trusted device.
DEVICE_HEADER = "X-Trusted-Device"

_REQUESTED = "frontdesk_sign_in_options"


class SignInOptions(NamedTuple):
    """What a client sends with a sign-in, besides the proof of who it is."""

    # The IP address that the request came from; empty outside a request.
    ip_address: str = ""
    # A session cookie in place of an access token.
    cookie: bool = False
    # A code from an authenticator app, sent with the password in one request.
    otp: str | None = None
    # The secret of a trusted device.
    device: str | None = None
    # A refresh token in the response.
    refresh: bool = False


def sign_in_options(
    *, otp: str | None = None, device: str | None = None, caller: Caller | None = None
) -> SignInOptions:
    """Return the sign-in options of the current request. A caller with a session cookie gets a
    cookie again. Services get the result and do not read the request."""
    asked = unwrap_request()
    cookie, own_device = getattr(asked, _REQUESTED, (False, None))
    prefers = asked.headers.get("Prefer", "").replace(";", ",").split(",")
    return SignInOptions(
        asked.remote_addr or "",
        cookie or (caller is not None and caller.via == COOKIE_CREDENTIAL),
        otp,
        device or own_device or asked.headers.get(DEVICE_HEADER),
        "refresh" in (each.strip().lower() for each in prefers),
    )


def request_cookie() -> None:
    """Make sign-ins of this request set a session cookie."""
    asked = unwrap_request()
    _, device = getattr(asked, _REQUESTED, (False, None))
    setattr(asked, _REQUESTED, (True, device))


def use_device(secret: str) -> None:
    """Make sign-ins of this request use the trusted device from the cookie of a page."""
    asked = unwrap_request()
    cookie, _ = getattr(asked, _REQUESTED, (False, None))
    setattr(asked, _REQUESTED, (cookie, secret))


# In the note of a problem, which is not part of the response.
PROOF = "proof"


@contextmanager
def sign_in_by(proof: str) -> Iterator[None]:
    """Decorate what signs in by a proof: its problems are rejected sign-ins by this proof."""
    try:
        yield
    except Problem as problem:
        note_proof(problem, proof)
        raise


def note_proof(problem: Problem, proof: str) -> Problem:
    problem.note = {**problem.note, PROOF: proof}
    return problem
