"""Optional dependencies: the package's extras, and whether their libraries are installed.

`pip install flask-frontdesk` installs no extra; a feature that needs one names it in its error.
"""

from importlib.util import find_spec

# The modules of each extra that must be importable.
LIBRARIES = {
    "argon2": ("argon2",),
    "avatars": ("PIL",),
    "celery": ("celery",),
    "docs": ("flask_swagger_ui",),
    "firebase": ("cryptography",),
    "idp": ("authlib", "joserfc", "requests"),
    "keys": ("cryptography",),
    "metrics": ("prometheus_client",),
    "mfa": ("cryptography", "segno", "webauthn"),
    "postgresql": ("psycopg",),
    "redis": ("redis",),
    "s3": ("boto3",),
    # The extra includes phonenumbers too; without it, only the format of phone numbers is checked.
    "sms": ("twilio",),
    "tracing": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}


def missing_extra(extra: str) -> str | None:
    """Return the command that installs the extra, or None if it is installed."""
    if all(_is_installed(library) for library in LIBRARIES[extra]):
        return None
    return f"pip install 'flask-frontdesk[{extra}]'"


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
