"""Users of identity providers, by their claims."""

import logging
from typing import Any, NamedTuple

from ...accounts.addresses import folds_to_ascii, read_email
from ...accounts.errors import InvalidEmail
from ...core.types import Values
from ..errors import AmbiguousEmail, EmailNotVerified
from .provider import Provider

log = logging.getLogger(__name__)


class IdpUserInfo(NamedTuple):
    """The user at the provider, for a listener of `idp-account-create`.

    Attributes:
        email: Email address.
        auth_payload: `auth_data` of the callback, loaded with the schema `idp_payload`; None
            without a schema.
        subject: The user's id at the provider, which does not change with the email address.
        claims: All verified claims, such as `name` and `picture`.
        issuer: The provider that issued `subject`; other providers can use the same value.
    """

    email: str
    auth_payload: Any
    subject: str
    claims: Values
    issuer: str


def readable_email(claims: Values) -> str:
    """Return the email address of a user, verified or not, or an empty string without one."""
    email = claims.get("email")
    try:
        return read_email(email) if isinstance(email, str) else ""
    except InvalidEmail:
        return ""


def usable_email(provider: Provider, claims: Values) -> str:
    """Return the email address of a new user, which is verified or can be verified by a code; raise
    EmailNotVerified."""
    email = claims.get("email")
    is_enough = provider.is_email_verified(claims) or provider.sends_codes
    if not is_enough or not isinstance(email, str):
        log.warning(
            "A new user of the identity provider was rejected: email is %s, %s is %.40r,"
            " expected True",
            "present" if "email" in claims else "missing",
            provider.verified_claim,
            claims.get(provider.verified_claim),
        )
        raise EmailNotVerified
    if folds_to_ascii(email):
        log.warning(
            "A new user of the identity provider was rejected: email has look-alike letters"
        )
        raise AmbiguousEmail
    try:
        return read_email(email)
    except InvalidEmail:
        log.warning("A new user of the identity provider was rejected: email is no email address")
        raise EmailNotVerified from None
