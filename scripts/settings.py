"""`make settings`: writes docs/settings.md from the settings' own classes, grouped by feature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from config import Settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

_HEAD = """\
# Settings

Configure Frontdesk with environment variables, or with lines `NAME=value` in the file `.env` next
to `wsgi.py`.

- Write lists and mappings as JSON: `CORE__CORS_ORIGINS=["https://app.example.com"]`.
- Write rate limits as `5 per 10 minutes`, `100/hour`, or several with `;` between them.
- A wrong value, or an unknown name in a namespace (`CORE__`, `AUTH__`, …), stops the start with an
  error that names the variable.
- Each setting has an anchor: `settings.html#AUTH__LOGIN_LIMIT`.

## Which name wins

- `SECRET_KEY` and the `IDP_…` settings also exist in a namespace: `CORE__SECRET_KEY`,
  `AUTH__IDP_…`. If both names are set, the name without a namespace wins. An empty value is
  ignored.
- Variables of the environment win over lines of `.env`.
- In your own application, `FRONTDESK_AUTH__LOGIN_LIMIT` in the environment wins over
  `app.config["FRONTDESK"]`, which wins over `app.config["FRONTDESK_AUTH__LOGIN_LIMIT"]`, which wins
  over the settings object that `init_app` was given.
  `app.config["SECRET_KEY"]` wins over a secret key of the environment, which is then accepted as a
  fallback, and is the last source otherwise.
- If you subclass the settings classes instead of composing them, use the names without their
  namespace: `PROJECT_NAME` for `CORE__PROJECT_NAME`, `ENABLED` for `TASKS__ENABLED`. The brand is
  the field `BRAND` in both cases.

This page is generated from the code by `make settings`.
"""

# The first pattern that matches the whole name decides. A setting without a group is an error.
_GROUPS = {
    "Secret key, name and URLs": r"(CORE__)?SECRET_KEY(_FALLBACKS)?|CORE__(PROJECT_NAME|LANGUAGE"
    r"|API_V1_STR|CLIENT_HOST|PUBLIC_URL|TRUSTED_PROXIES|PRODUCTION_CHECKS|PROBLEM_TYPE_URL)",
    "First root account": r"FIRST_SUPERUSER.*",
    "Database and shared state store": r"CORE__(DATABASE|KEYSTORE|REDIS).*",
    "CORS and HTTPS": r"CORE__(CORS|HSTS).*",
    "Web console": r"CORE__CONSOLE.*",
    "Logging, metrics and tracing": r"CORE__(LOG|METRICS|TRACING).*",
    "Accounts and passwords": r"AUTH__(ACTIVE|ROLES|BCRYPT|FOREIGN|PASSWORDS|PASSWORD_MIN"
    r"|PASSWORD_WORDS|SIGN_IN_LINK|COMMON|BREACHED).*",
    "Access tokens": r"AUTH__(ACCESS_TOKEN|AUDIENCE|ISSUER|LOGOUT).*",
    "Rate limits of sign-in": r"AUTH__(RATE_LIMITS_ENABLED|LOGINS_AT_ONCE"
    r"|LOGIN_(ADDRESS_|ACCOUNT_)?LIMIT)",
    "Password reset": r"AUTH__(EMAIL_RESET|RESET_CODE|PASSWORD_RE|RECOVERY|HIDE_ACCOUNTS).*",
    "Sessions, refresh tokens and cookies": r"AUTH__(SESSION|REFRESH|COOKIE).*",
    "One-time codes by email": r"AUTH__LOGIN_(BY_)?CODE.*",
    "Passkeys": r"AUTH__(PASSKEYS|WEBAUTHN).*",
    "Multi-factor authentication (MFA)": r"AUTH__(MFA|FRESH|ENCRYPTION).*",
    "Single sign-on (SSO) with an identity provider": r"(AUTH__)?IDP_.*|AUTH__\w+_IDP_OAUTH\w*",
    "Registration and email verification": r"AUTH__(REGISTRATION|EMAIL_VERIFICATION|EMAIL_TOKEN"
    r"|EMAIL_CODE|VERIFICATION|UNVERIFIED).*",
    "Change of email address": r"AUTH__EMAIL_(CHANGE|UNDO).*",
    "Account deletion": r"AUTH__ACCOUNT_(DELETION|RESTORE).*",
    "Data exports": r"AUTH__(ACCOUNT_EXPORTS|EXPORT).*",
    "Email": r"MAIL_.*|CORE__EMAILS_ENABLED|AUTH__SECURITY_MAILS",
    "Email branding": r"BRAND__.*",
    "SMS": r"SMS_.*",
    "Notifications and background jobs": r"NOTIFICATIONS__.*|CORE__CELERY.*",
    "Profiles and avatars": r"PROFILES__.*",
    "Workspaces and invitations": r"WORKSPACES__.*",
    "Tasks (sample resource)": r"TASKS__.*",
    "Audit log": r"AUDIT__.*",
}


def page() -> str:
    return "\n".join([_HEAD, *_sections(), ""])


def settings() -> dict[str, FieldInfo]:
    """Return each variable with its field."""
    found: dict[str, FieldInfo] = {}
    for name, field in Settings.model_fields.items():
        if (space := _namespace(field)) is None:
            found[name] = field
        else:
            inner = space.model_fields.items()
            found.update({f"{name}__{each}": declared for each, declared in inner})
    return found


def _sections() -> Iterator[str]:
    groups: dict[str, dict[str, FieldInfo]] = {title: {} for title in _GROUPS}
    for name, field in settings().items():
        groups[_group_of(name)][name] = field
    for title, fields in groups.items():
        yield f"## {title}\n"
        yield "| setting | type | default | description |"
        yield "|---|---|---|---|"
        # Names without a namespace first: they win.
        for name, field in sorted(fields.items(), key=lambda each: "__" in each[0]):
            text = (field.description or "").replace("|", "\\|")
            yield f"| `{name}` | {_type(field.annotation)} | {_default(field.default)} | {text} |"
        yield ""


def _group_of(name: str) -> str:
    found = [title for title, pattern in _GROUPS.items() if re.fullmatch(pattern, name)]
    if not found:
        raise LookupError(f"{name} has no group in scripts/settings.py")
    return found[0]


def _namespace(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _type(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (list, dict):
        return "list" if get_origin(annotation) is list else "mapping"
    # The type of `Annotated[int, …]`, and of `int | None`, is that of the first part.
    if inner := get_args(annotation):
        return _type(inner[0])
    names = {int: "integer", bool: "`true` or `false`", SecretStr: "secret"}
    return names.get(annotation, "string")


def _default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == "":
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page())
