"""The names of the proofs of a sign-in, and their values of `amr` (RFC 8176)."""

from collections.abc import Iterable, Sequence

# Names of the proofs in the audit log.
PASSWORD = "password"
PROVIDER = "provider"
# The application signs the account in and does not name the proof.
HOST = "host"
# A one-time code by email.
MAILED_CODE = "code"
# A link that an operator created.
SIGN_IN_LINK = "link"
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
MULTIPLE = "mfa"


def has_factor(by: Iterable[str]) -> bool:
    return not FACTORS.isdisjoint(by)


def methods(by: Sequence[str]) -> list[str]:
    """Return the `amr` values of the proofs, each once, and `mfa` if one is a second factor."""
    named = [method for proof in by for method in _METHODS.get(proof, (proof,))]
    if has_factor(by):
        named.append(MULTIPLE)
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
    return isinstance(amr, list) and MULTIPLE in amr
