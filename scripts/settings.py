"""`make settings`: writes docs/settings.md from the settings' own classes, grouped by feature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app.doctor.unread_settings import SERVICE_ONLY
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
- Each entry has the name in the environment as its title, and the name in
  [`app.config["FRONTDESK"]`](configuration.md) of your own application below the description.

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

# The first pattern that matches the whole name decides, and names the guide. A setting without a
# group is an error.
_GROUPS = {
    "Secret key, name and URLs": (
        r"(CORE__)?SECRET_KEY(_FALLBACKS)?|CORE__(PROJECT_NAME|LANGUAGE|API_V1_STR|CLIENT_HOST"
        r"|PUBLIC_URL|TRUSTED_PROXIES|PRODUCTION_CHECKS|PROBLEM_TYPE_URL)",
        "[Deployment](operations.md#required-settings)",
    ),
    "First root account": (r"FIRST_SUPERUSER.*", "[Quickstart](quickstart.md)"),
    "Database and shared state store": (
        r"CORE__(DATABASE|KEYSTORE|REDIS).*",
        "[Deployment](operations.md), [scalability](scale.md)",
    ),
    "CORS and HTTPS": (
        r"CORE__(CORS|HSTS).*",
        "[CORS](api.md#cors), [reverse proxies](reverse-proxy.md)",
    ),
    "Web console": (r"CORE__CONSOLE.*", "[Web console](console.md)"),
    "Logging, metrics and tracing": (
        r"CORE__(LOG|METRICS|TRACING).*",
        "[Monitoring](monitoring.md), [security log](security/logging.md)",
    ),
    "Accounts and passwords": (
        r"AUTH__(ACTIVE|ROLES|BCRYPT|FOREIGN|PASSWORDS|PASSWORD_MIN|PASSWORD_WORDS|SIGN_IN_LINK"
        r"|COMMON|BREACHED).*",
        "[Passwords and access tokens](accounts.md), [roles](decorators.md#custom-roles)",
    ),
    "Access tokens": (
        r"AUTH__(ACCESS_TOKEN|AUDIENCE|ISSUER|LOGOUT|SIGNING_KEYS|ACCEPT_HS256).*",
        "[Passwords and access tokens](accounts.md), [signing keys](signing-keys.md),"
        " [lifetimes](security/lifetimes.md)",
    ),
    "Tokens of programs": (r"AUTH__PERSONAL_TOKEN.*", "[Tokens for programs](tokens.md)"),
    "Rate limits of sign-in": (
        r"AUTH__(RATE_LIMITS_ENABLED|LOGINS_AT_ONCE|LOGIN_(ADDRESS_|ACCOUNT_)?LIMIT)",
        "[Rate limits](rate-limits.md)",
    ),
    "Password reset": (
        r"AUTH__(EMAIL_RESET|RESET_CODE|PASSWORD_RE|RECOVERY|HIDE_ACCOUNTS).*",
        "[Passwords and access tokens](accounts.md)",
    ),
    "Sessions, refresh tokens and cookies": (
        r"AUTH__(SESSION|REFRESH|COOKIE).*",
        "[Sessions](sessions.md), [cookies](cookies.md)",
    ),
    "One-time codes by email": (
        r"AUTH__LOGIN_(BY_)?CODE.*",
        "[Passwordless sign-in](passwordless.md)",
    ),
    "Passkeys": (r"AUTH__(PASSKEYS|WEBAUTHN).*", "[Passkeys](passkeys.md)"),
    "Multi-factor authentication (MFA)": (
        r"AUTH__(MFA|FRESH|ENCRYPTION).*",
        "[MFA](mfa.md), [step-up](step-up.md)",
    ),
    "Single sign-on (SSO) with an identity provider": (
        r"(AUTH__)?IDP_.*|AUTH__\w+_IDP_OAUTH\w*|AUTH__PROVIDERS|AUTH__POST_LOGOUT_PATH",
        "[Identity providers](idp.md), [SSO](cookbook/sso.md)",
    ),
    "Registration and email verification": (
        r"AUTH__(REGISTRATION|EMAIL_VERIFICATION|EMAIL_TOKEN|EMAIL_CODE|VERIFICATION|UNVERIFIED).*",
        "[Sign-up and email verification](registration.md)",
    ),
    "Change of email address": (
        r"AUTH__EMAIL_(CHANGE|UNDO).*",
        "[Account self-service](account-self-service.md#change-the-email-address)",
    ),
    "Account deletion": (
        r"AUTH__ACCOUNT_(DELETION|RESTORE).*",
        "[Delete an account](account-self-service.md#delete-an-account)",
    ),
    "Data exports": (r"AUTH__(ACCOUNT_EXPORTS|EXPORT).*", "[Data export](exports.md)"),
    "Email": (
        r"MAIL_.*|CORE__EMAILS_ENABLED|AUTH__SECURITY_MAILS",
        "[Email delivery](email-delivery.md)",
    ),
    "Email branding": (r"BRAND__.*", "[Custom emails](custom-emails.md)"),
    "SMS": (r"SMS_.*", "[Notifications](notifications.md)"),
    "Notifications and background jobs": (
        r"NOTIFICATIONS__.*|CORE__CELERY.*",
        "[Notifications](notifications.md), [Celery](cookbook/celery.md)",
    ),
    "Profiles and avatars": (r"PROFILES__.*", "[Profiles](profiles.md)"),
    "Workspaces and invitations": (
        r"WORKSPACES__.*",
        "[Workspaces](workspaces.md), [invitations](invitations.md)",
    ),
    "Tasks (sample resource)": (r"TASKS__.*", "[Tasks](http-api/tasks.md)"),
    "Audit log": (r"AUDIT__.*", "[Audit log](audit-log.md)"),
}
# What to do in an application instead, as the doctor says.
_SERVICE_ONLY = {f"{space}__{name}": advice for (space, name), advice in SERVICE_ONLY.items()} | {
    "CORE__TRUSTED_PROXIES": "wrap your application in Werkzeug's `ProxyFix`"
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
        yield f"Guide: {_GROUPS[title][1]}.\n"
        # Names without a namespace first: they win.
        for name, field in sorted(fields.items(), key=lambda each: "__" in each[0]):
            yield from _entry(name, field)


def _entry(name: str, field: FieldInfo) -> Iterator[str]:
    yield f":::{{confval}} {name}"
    yield f":type: {_type(field.annotation)}"
    yield f":default: {_default(field.default)}"
    yield f"\n{field.description}\n"
    yield f"{_in_application(name)}\n:::\n"


def _in_application(name: str) -> str:
    if name in _SERVICE_ONLY:
        return f"Only the service reads this setting. Instead, {_SERVICE_ONLY[name]}."
    if name == "SECRET_KEY":
        return 'In your application: `app.config["SECRET_KEY"] = …`'
    space, _, inner = name.rpartition("__")
    value = f'{{"{space}": {{"{inner}": …}}}}' if space else f'{{"{inner}": …}}'
    return f'In your application: `app.config["FRONTDESK"] = {value}`'


def _group_of(name: str) -> str:
    found = [title for title, (pattern, _) in _GROUPS.items() if re.fullmatch(pattern, name)]
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
        return "not set"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page())
