"""What a client sends with a sign-in besides its proof, and the names of the proofs for `amr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...core.request import unwrap_request

if TYPE_CHECKING:
    from ..caller import Caller

# Names of the proofs, as the audit log has them.
PASSWORD = "password"
PROVIDER = "provider"
# The application vouches for the account, and does not say how it signed in.
HOST = "host"
# A one-time code by email.
MAILED_CODE = "code"
# A code of an authenticator app.
TOTP = "totp"
RECOVERY_CODE = "recovery"
PASSKEY = "passkey"
# A trusted device: it has shown a second factor some days ago.
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
    """For `amr`: what was shown, each once, and `mfa` where a second factor was among it."""
    named = [method for proof in by for method in _METHODS.get(proof, (proof,))]
    if has_factor(by):
        named.append(_MULTIPLE)
    return list(dict.fromkeys(named))


def written(methods: Iterable[str], length: int) -> str:
    """In one text, as many of them as it has room for: a host may call its proofs anything."""
    text = ""
    for method in dict.fromkeys(methods):
        longer = f"{text} {method}".strip()
        text = longer if len(longer) <= length else text
    return text


def tells_of_factor(amr: object) -> bool:
    """Whether a token says that a second factor was shown."""
    return isinstance(amr, list) and _MULTIPLE in amr


# The kind of credential that a cookie is.
COOKIE_WAY = "cookie"

_REQUESTED = "frontdesk_sign_in_options"


class SignInOptions(NamedTuple):
    """What a client sends with a sign-in, besides the proof of who it is."""

    # The IP address that the request came from; empty outside a request.
    address: str = ""
    # A session cookie in place of an access token.
    cookie: bool = False
    # A code of an authenticator app, sent with the password in one request.
    otp: str | None = None
    # The secret of a trusted device.
    device: str | None = None
    # A refresh token in the response.
    refresh: bool = False


def sign_in_options(
    *, otp: str | None = None, device: str | None = None, caller: Caller | None = None
) -> SignInOptions:
    """Return what the current request asks for. A caller that is known by a cookie gets a cookie
    again. Services are given the result and do not read the request."""
    asked = unwrap_request()
    cookie, own_device = getattr(asked, _REQUESTED, (False, None))
    prefers = asked.headers.get("Prefer", "").replace(";", ",").split(",")
    return SignInOptions(
        asked.remote_addr or "",
        cookie or (caller is not None and caller.via == COOKIE_WAY),
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
    """Give sign-ins of this request the trusted device that a page's own cookie holds."""
    asked = unwrap_request()
    cookie, _ = getattr(asked, _REQUESTED, (False, None))
    setattr(asked, _REQUESTED, (cookie, secret))
