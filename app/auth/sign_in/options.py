"""What a client sends with a sign-in besides its proof, and the names of the proofs for `amr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...core.request import unwrap_request

if TYPE_CHECKING:
    from ..caller import Caller

# Names of the proofs in the audit log.
PASSWORD = "password"
PROVIDER = "provider"
# The application signs the account in and does not name the proof.
HOST = "host"
# A one-time code by email.
MAILED_CODE = "code"
# A code from an authenticator app.
TOTP = "totp"
RECOVERY_CODE = "recovery"
PASSKEY = "passkey"
# A trusted device: a second factor was used on it some days ago.
DEVICE = "device"

# Each of these is a second factor; a passkey is two factors by itself.
FACTORS = frozenset((TOTP, RECOVERY_CODE, PASSKEY))

# The values of `amr` (RFC 8176) for each proof.
_METHODS = {
    PASSWORD: ("pwd",),
    PROVIDER: ("fed",),
    MAILED_CODE: ("otp",),
    TOTP: ("otp",),
    RECOVERY_CODE: ("recovery",),
    PASSKEY: ("hwk", "user"),
}
_MULTIPLE = "mfa"


def has_factor(by: Iterable[str]) -> bool:
    return not FACTORS.isdisjoint(by)


def methods(by: Sequence[str]) -> list[str]:
    """Return the `amr` values of the proofs, each once, and `mfa` if one is a second factor."""
    named = [method for proof in by for method in _METHODS.get(proof, (proof,))]
    if has_factor(by):
        named.append(_MULTIPLE)
    return list(dict.fromkeys(named))


def join_methods(methods: Iterable[str], length: int) -> str:
    """Return the methods as one string, cut at the length: an application may choose names of
    any length."""
    text = ""
    for method in dict.fromkeys(methods):
        longer = f"{text} {method}".strip()
        text = longer if len(longer) <= length else text
    return text


def amr_has_factor(amr: object) -> bool:
    """Return whether an `amr` claim names a second factor."""
    return isinstance(amr, list) and _MULTIPLE in amr


# The kind of credential of a session cookie.
COOKIE_CREDENTIAL = "cookie"

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
        device or own_device or asked.headers.get("X-Trusted-Device"),
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
