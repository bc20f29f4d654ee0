"""`make api`: writes docs/http-api/ from the OpenAPI document, a page for each tag.

The document is that of the service with all features switched on. `docs/conf.py` adds it to the
site as `openapi.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from flask import Flask

from app import create_app
from app.core.types import JsonObject
from config import Settings

from .curl_commands import curl, without_passwords
from .error_codes import section_of

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "http-api"

# All features of sign-in and accounts.
AUTH_ON = {
    "REGISTRATION": "open",
    "EMAIL_VERIFICATION": "optional",
    "ACCOUNT_DELETION": "on",
    "ACCOUNT_EXPORTS": "on",
    "COOKIE_SESSIONS": "on",
    "SESSIONS": "on",
    "REFRESH_TOKEN_DAYS": 14,
    "LOGIN_BY_CODE": "on",
    "MFA": "optional",
    "MFA_TRUST_DAYS": 30,
    "PASSKEYS": "on",
    "PERSONAL_TOKENS": "on",
    "PROVIDERS": {"github": {"kind": "github", "client_id": "…", "client_secret": "…"}},
}
_TITLES = {
    "auth": "Sign-in, accounts and passwords",
    "admin notifications": "Send notifications",
    "administration": "User management",
    "banners": "Banners",
    "deletion": "Account deletion",
    "events": "Audit log",
    "exports": "Data exports",
    "health": "Health checks",
    "invitations": "Invitations",
    "login codes": "One-time codes by email",
    "mfa": "Multi-factor authentication (MFA)",
    "notifications": "Inbox",
    "passkeys": "Passkeys",
    "profiles": "Profiles and avatars",
    "registration": "Sign-up and email verification",
    "sessions": "Sessions, refresh tokens and cookies",
    "tasks": "Tasks",
    "tokens": "Tokens for programs",
    "unsubscribe": "One-click unsubscribe",
    "workspace profiles": "Profiles in a workspace",
    "workspaces": "Workspaces and members",
}
# Errors of requests that the server cannot read or whose caller it does not know.
_COMMON = {
    "account_inactive",
    "account_not_found",
    "busy",
    "cross_site",
    "invalid_credentials",
    "keystore_unavailable",
    "malformed_json",
    "token_expired",
    "too_large",
    "unavailable",
    "unreadable_body",
    "unsupported_media_type",
    "validation_error",
}
_METHODS = ("get", "post", "put", "patch", "delete")
_REFERENCE = "#/components/schemas/"
_INDEX = """\
# HTTP API reference

Look up each operation of the HTTP API: path, access, parameters, requests, responses and errors.

Open the [OpenAPI viewer](openapi.md) to search all operations on one page, or download
[openapi.json](https://flask-frontdesk.readthedocs.io/openapi.json) to generate a client.
It describes a service with all features switched on; your own server has its document at
`/api/v1/openapi.json`. See [HTTP API](../api.md) for pagination, polling and generated clients,
and [Errors](../errors.md) for the form of an error.

The requests use the variables `API` and `TOKEN`, which
[Before you paste](../accounts.md#before-you-paste) sets.

This reference is generated from the code by `make api`.
"""


_VARIABLES = """\
In the requests, `$API` is `http://127.0.0.1:5000/api/v1` (in your application, the prefix under
which you mount the blueprints), and `$TOKEN` is an access token ([sign
in](auth.md#sign-in-with-email-and-password))."""


_VIEWER = """\
# HTTP API: OpenAPI viewer

Search all operations of the OpenAPI document on one page, with their parameters and examples.

```{raw} html
<div id="openapi" data-document="../openapi.json"><p>Loading openapi.json</p></div>
<script src="../_static/openapi.js" defer></script>
```

Download [openapi.json](https://flask-frontdesk.readthedocs.io/openapi.json) to generate a client.
"""


class Described(NamedTuple):
    method: str
    path: str
    operation: JsonObject


def document() -> JsonObject:
    found: JsonObject = _service().test_client().get("/api/v1/openapi.json").get_json()
    return found


def pages(document: JsonObject) -> dict[str, str]:
    """Return the text of each file in the folder."""
    by_tag: dict[str, list[Described]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method in sorted(methods, key=_METHODS.index):
            operation = methods[method]
            by_tag[operation["tags"][0]].append(Described(method.upper(), path, operation))
    written = {"README.md": _index(by_tag), "openapi.md": _VIEWER, "schemas.md": _schemas(document)}
    for tag, described in by_tag.items():
        written[_file_of(tag)] = "\n".join(_page(tag, described, document))
    return written


def _service() -> Flask:
    settings = Settings(
        _env_file=None,
        SECRET_KEY="only for the document: nothing is signed",
        CORE={"DATABASE_URL": "sqlite:///:memory:", "KEYSTORE": "memory"},
        AUTH=AUTH_ON,
    )
    return create_app(settings)


def _file_of(tag: str) -> str:
    return f"{tag.replace(' ', '-')}.md"


def _index(by_tag: Mapping[str, list[Described]]) -> str:
    lines = [_INDEX]
    for tag, described in sorted(by_tag.items(), key=lambda each: _TITLES[each[0]]):
        lines.append(f"## [{_TITLES[tag]}]({_file_of(tag)})\n")
        lines.append("| operation | path |")
        lines.append("|---|---|")
        for each in described:
            link = f"{_file_of(tag)}#{_slug(_heading(each))}"
            lines.append(f"| [{_heading(each)}]({link}) | `{each.method} {each.path}` |")
        lines.append("")
    files = "\n".join(_file_of(tag)[:-3] for tag in sorted(by_tag, key=_TITLES.__getitem__))
    return "\n".join([*lines, f"```{{toctree}}\n:hidden:\n\nopenapi\n{files}\nschemas\n```", ""])


def _heading(described: Described) -> str:
    """Return the summary; paths that repeat another's operation name themselves."""
    summary: str = described.operation["summary"]
    if described.path.endswith("/workspaces/current") and described.method != "PUT":
        return f"{summary} (current)"
    return summary


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _page(tag: str, described: list[Described], document: JsonObject) -> Iterator[str]:
    about = next(each["description"] for each in document["tags"] if each["name"] == tag)
    yield f"# HTTP API: {_TITLES[tag]}\n"
    yield f"{about}. Errors are [problem documents](../errors.md).\n"
    yield f"{_VARIABLES}\n"
    for each in described:
        yield f"## {_heading(each)}\n"
        yield f":::{{container}} operation {each.method.lower()}"
        yield f"`{each.method}` `{each.path}`\n:::\n"
        text, _, access = each.operation["description"].rpartition("Access: ")
        if text.strip():
            yield f"{text.strip()}\n"
        yield f"**Access:** {access}\n"
        yield from _parameters(each.operation)
        yield from _request(each.operation, document)
        yield "::::{container} examples\n:::{container} request\n**Request**\n"
        yield f"```sh\n{curl(each.method, each.path, each.operation)}\n```\n:::"
        yield ":::{container} response"
        yield from _responses(each.operation)
        yield ":::\n::::\n"
        yield from _errors(each.operation)


def _parameters(operation: JsonObject) -> Iterator[str]:
    if not operation["parameters"]:
        return
    yield "| parameter | in | type | description |"
    yield "|---|---|---|---|"
    for each in operation["parameters"]:
        needed = "" if each.get("required") else "Optional. "
        text = f"{needed}{_in_cell(each['description'])}"
        if "default" in each["schema"]:
            text += f" Default: `{each['schema']['default']}`."
        yield f"| `{each['name']}` | {each['in']} | {_type(each['schema'])} | {text} |"
    yield ""


def _request(operation: JsonObject, document: JsonObject) -> Iterator[str]:
    if "requestBody" not in operation:
        return
    for media, content in operation["requestBody"]["content"].items():
        needed = "" if operation["requestBody"]["required"] else ", optional"
        yield f"**Request body** (`{media}`{needed}):\n"
        yield from _fields(content["schema"], document)


def _responses(operation: JsonObject) -> Iterator[str]:
    for status, response in operation["responses"].items():
        if status[0] in "45" and "application/problem+json" in response.get("content", {}):
            continue
        yield f"**Response {status}**: {response['description']}.\n"
        for media, content in response.get("content", {}).items():
            yield f"`{media}`: {_type(content['schema'])}\n"
            yield from _example(media, content)


def _errors(operation: JsonObject) -> Iterator[str]:
    """Show the errors of the operation, and fold those that most operations have."""
    own, common = dict[str, list[str]](), dict[str, list[str]]()
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/problem+json", {"examples": {}})
        for code in content["examples"]:
            (common if code in _COMMON else own).setdefault(status, []).append(code)
    if own:
        yield from _error_table(own)
    if common:
        yield '<details class="common-errors"><summary>Common errors</summary>\n'
        yield from _error_table(common)
        yield "</details>\n"


def _error_table(codes: Mapping[str, list[str]]) -> Iterator[str]:
    yield "| error | codes |"
    yield "|---|---|"
    for status, names in codes.items():
        links = ", ".join(f"[`{name}`](../{section_of(name)})" for name in names)
        yield f"| {status} | {links} |"
    yield ""


def _schemas(document: JsonObject) -> str:
    about = "Find the fields of the objects that requests and responses contain."
    lines = ["# HTTP API: schemas\n", f"{about}\n"]
    for name, schema in sorted(document["components"]["schemas"].items()):
        if re.search(r".Problem(Code)?$", name):
            continue
        lines.append(f"## {name}\n")
        if text := schema.get("description"):
            lines.append(f"{text.rstrip('.')}.\n")
        if "enum" in schema:
            lines.append(f"One of {', '.join(f'`{value}`' for value in schema['enum'])}.\n")
        lines.extend(_fields(schema, document))
    return "\n".join(lines)


def _fields(schema: JsonObject, document: JsonObject) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REFERENCE)
        schema = document["components"]["schemas"][name]
    if not schema.get("properties"):
        return
    required = schema.get("required", ())
    yield "| field | type | description |"
    yield "|---|---|---|"
    for name, each in schema["properties"].items():
        needed = "" if name in required else "Optional. "
        yield f"| `{name}` | {_type(each)} | {needed}{_in_cell(each.get('description', ''))} |"
    yield ""


def _type(schema: JsonObject) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REFERENCE)
        return f"[{name}](schemas.md#{name.lower()})"
    for combined in ("allOf", "anyOf"):
        if combined in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[combined])))
    types = schema.get("type", "any")
    names = types if isinstance(types, list) else [types]
    if "array" in names:
        inner = f"array of {_type(schema['items'])}"
        return f"{inner} or null" if "null" in names else inner
    found = " or ".join(names)
    return f"{found} ({schema['format']})" if "format" in schema else found


def _example(media: str, content: JsonObject) -> Iterator[str]:
    if "example" not in content:
        return
    example = without_passwords(content["example"])
    if media == "application/json":
        text = json.dumps(example, indent=2, ensure_ascii=False)
        yield f"```json\n{text}\n```\n"
    elif isinstance(example, dict):
        text = "&".join(f"{name}={value}" for name, value in example.items())
        yield f"```text\n{text}\n```\n"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    written = pages(document())
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
