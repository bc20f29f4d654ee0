"""`make features`: writes app/extension/feature_routes.py, the paths that settings switch off.

The service with all features is compared with services in which one feature is off.
"""

from __future__ import annotations

import re
from pathlib import Path

from app import create_app
from config import Settings

from .http_api import AUTH_ON

TABLE = Path(__file__).resolve().parents[1] / "app" / "extension" / "feature_routes.py"
PREFIX = "/api/v1"
Switches = dict[str, object]

# What switches each feature off. A feature that needs another one comes before that one.
OFF: dict[str, Switches] = {
    "AUTH__COOKIE_SESSIONS": {"COOKIE_SESSIONS": "off"},
    "AUTH__SESSIONS": {"COOKIE_SESSIONS": "off", "SESSIONS": "off", "REFRESH_TOKEN_DAYS": 0},
    "AUTH__PASSKEYS": {"PASSKEYS": "off", "MFA_METHODS": ["totp"]},
    "AUTH__MFA": {"PASSKEYS": "off", "MFA_METHODS": ["totp"], "MFA": "off"},
    "AUTH__LOGIN_BY_CODE": {"LOGIN_BY_CODE": "off"},
    "AUTH__PERSONAL_TOKENS": {"PERSONAL_TOKENS": "off"},
    "AUTH__PROVIDERS": {"PROVIDERS": {}},
    "AUTH__ACCOUNT_EXPORTS": {"ACCOUNT_EXPORTS": "off"},
    "TASKS__ENABLED": {"ENABLED": False},
}
_HEAD = """\
# Written by `make features`: the API's paths that settings switch off, with these settings. `*` is
# a variable.
ROUTES = (
"""


def table() -> str:
    lines = [f'    ("{path}", "{" ".join(names)}"),\n' for path, names in routes().items()]
    return "".join([_HEAD, *lines, ")\n"])


def routes() -> dict[str, list[str]]:
    """Return the settings that switch each path off; a path with a variable comes last."""
    without = {name: _paths(name) for name in OFF}
    found = {
        path: [name for name in OFF if path not in without[name]]
        for path in sorted(_paths(), key=lambda each: ("*" in each, each))
    }
    return {path: _narrowest(names) for path, names in found.items() if names}


def _narrowest(names: list[str]) -> list[str]:
    """Leave out a setting that only switches off what another one needs: cookie sessions end with
    sessions."""
    return [
        name for name in names if not any(OFF[other].items() < OFF[name].items() for other in names)
    ]


def _paths(off: str = "") -> set[str]:
    namespace = off.partition("__")[0]
    switches = {namespace: OFF[off]} if off else {}
    settings = Settings(
        _env_file=None,
        SECRET_KEY="only for the table: nothing is signed",
        CORE={"DATABASE_URL": "sqlite:///:memory:", "KEYSTORE": "memory"},
        AUTH={**AUTH_ON, **switches.get("AUTH", {})},
        TASKS=switches.get("TASKS", {}),
    )
    rules = [rule.rule for rule in create_app(settings).url_map.iter_rules()]
    return {
        re.sub(r"<[^>]+>", "*", rule.removeprefix(PREFIX).rstrip("/"))
        for rule in rules
        if rule.startswith(f"{PREFIX}/")
    }


def main() -> None:
    TABLE.write_text(table())


if __name__ == "__main__":
    main()
