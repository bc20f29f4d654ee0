"""What a client sends with a sign-in besides its proof, and the names of the proofs for `amr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from flask import has_request_context

from ...core.request import request_itself

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

_ENTRANCE = "frontdesk_entrance"
_DEVICE = "frontdesk_device"


class Entrance(NamedTuple):
    # Known by a cookie from here on, and not by a token.
    cookie: bool = False
    # Beside the password, so that no second request need bring it.
    otp: str | None = None
    # The secret of a trusted device.
    device: str | None = None
    # It keeps itself signed in.
    refresh: bool = False


def come_in(*, cookie: bool = False, otp: str | None = None, device: str | None = None) -> None:
    """What a route has read of it, before it signs somebody in."""
    setattr(request_itself(), _ENTRANCE, (cookie, otp, device))


def bring_device(secret: str) -> None:
    """A page's own cookie holds it, whichever way its reader signs in."""
    setattr(request_itself(), _DEVICE, secret)


def go_on_as(caller: Caller | None) -> None:
    """Before somebody who is in signs in anew: known by a cookie, they are so again."""
    if caller is not None and caller.via == COOKIE_WAY:
        come_in(cookie=True)


def current_entrance() -> Entrance:
    if not has_request_context():
        return Entrance()
    asked = request_itself()
    cookie, otp, device = getattr(asked, _ENTRANCE, (False, None, None))
    prefers = asked.headers.get("Prefer", "").replace(";", ",").split(",")
    return Entrance(
        cookie,
        otp,
        device=device or getattr(asked, _DEVICE, None) or asked.headers.get("X-Trusted-Device"),
        refresh="refresh" in (each.strip().lower() for each in prefers),
    )
