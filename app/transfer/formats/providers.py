"""Providers whose people have one subject for all who ask, so that it can be taken along.

Others, such as Apple, give each client another one: their people are linked anew when they sign in.
"""

from __future__ import annotations

from ..account import ImportedIdentity

GOOGLE = "https://accounts.google.com"
_ISSUERS = {"google": GOOGLE, "google.com": GOOGLE, "google-oauth2": GOOGLE}


def identity(provider: object, subject: object) -> list[ImportedIdentity]:
    """One, or none where the provider is not known here."""
    issuer = _ISSUERS.get(str(provider))
    if issuer is None or not isinstance(subject, str) or not subject:
        return []
    return [ImportedIdentity(issuer, subject)]
