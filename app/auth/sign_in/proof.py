"""What an account proves itself by, and how others are told of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PASSWORD = "password"
PROVIDER = "provider"
# A host vouches for it, and does not say by what.
HOST = "host"
# A code that was mailed.
MAILED_CODE = "code"
# A code of an app.
TOTP = "totp"
RECOVERY_CODE = "recovery"
PASSKEY = "passkey"
# A browser or program that has shown a second factor some days ago.
DEVICE = "device"

# Whoever has shown one of them has shown a second factor; a passkey is two by itself.
FACTORS = frozenset((TOTP, RECOVERY_CODE, PASSKEY))

# In the words of RFC 8176, where it has one.
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
