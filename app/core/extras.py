"""What comes with an extra of the package: whether it is here, and the line that brings it.

`pip install flask-frontdesk` is small: a feature that needs an extra names it in its error.
"""

from __future__ import annotations

from importlib.util import find_spec

# The libraries of each extra, by the names that they are imported by.
LIBRARIES = {
    "argon2": ("argon2",),
    "avatars": ("PIL",),
    "celery": ("celery",),
    "docs": ("flask_swagger_ui",),
    "firebase": ("cryptography",),
    "idp": ("authlib", "joserfc", "requests"),
    "metrics": ("prometheus_client",),
    "mfa": ("cryptography", "segno", "webauthn"),
    "postgresql": ("psycopg",),
    "redis": ("redis",),
    "s3": ("boto3",),
    # The extra brings phonenumbers too; without it, phone numbers are checked by their form.
    "sms": ("twilio",),
    "tracing": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}


def missing_extra(extra: str) -> str | None:
    """How to install it, or None where all of it is here."""
    if all(_is_installed(library) for library in LIBRARIES[extra]):
        return None
    return f"pip install 'flask-frontdesk[{extra}]'"


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # of a package inside one that is not here
        return False
