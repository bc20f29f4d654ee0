"""The curl command of each operation of the OpenAPI document, from the operation's example."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from app.core.types import JsonObject

PREFIX = "/api/v1"
# Values of the parameters in paths and required ones in queries, unless the value is a number.
_VALUES = {
    "workspace_slug": "acme",
    "name": "3f9c2a.webp",
    "provider": "github",
    "session_id": "Vt9yq2LmXw",
    "token": "$INVITATION",
}
_WIDTH = 90


def curl(method: str, path: str, operation: JsonObject) -> str:
    """Return the command, over several lines if it is long."""
    parts = list(_parts(method, path, operation))
    line = " ".join(parts)
    return line if len(line) <= _WIDTH and "\n" not in line else " \\\n  ".join(parts)


def _parts(method: str, path: str, operation: JsonObject) -> Iterator[str]:
    body = operation.get("requestBody", {}).get("content", {})
    implied = "POST" if body else "GET"
    yield f"curl{'' if method == implied else f' -X {method}'} {_url(path, operation)}"
    access = operation["description"].rpartition("Access: ")[2]
    if not access.startswith("anyone") or "optional" in access:
        yield '-H "Authorization: Bearer $TOKEN"'
    for media, content in body.items():
        yield from _body(media, content)
        break
    if any(_is_binary(response) for response in operation["responses"].values()):
        yield "--output file"


def _url(path: str, operation: JsonObject) -> str:
    base = f"$API{path.removeprefix(PREFIX)}" if path.startswith(PREFIX) else f"$SERVER{path}"
    query = []
    for each in operation["parameters"]:
        value = "7" if each["schema"].get("type") == "integer" else _VALUES.get(each["name"])
        if each["in"] == "path":
            base = base.replace(f"{{{each['name']}}}", str(value))
        elif each["in"] == "query" and each.get("required"):
            query.append(f"{each['name']}={value}")
    return f'"{base}?{"&".join(query)}"' if query else f'"{base}"'


def _body(media: str, content: JsonObject) -> Iterator[str]:
    if media == "application/json":
        yield "-H 'Content-Type: application/json'"
        text = json.dumps(without_passwords(content.get("example", {})), ensure_ascii=False)
        if len(text) > _WIDTH - 10:
            indented = json.dumps(
                without_passwords(content["example"]), ensure_ascii=False, indent=2
            )
            text = indented.replace("\n", "\n  ")
        quoted = text.replace("'", "\\u0027")
        yield f"-d '{quoted}'"
    elif media == "multipart/form-data":
        yield "-F avatar=@picture.png"
    else:
        for name, value in content["example"].items():
            shown = "$PASSWORD" if "password" in name else value
            yield f'--data-urlencode "{name}={shown}"'


def _is_binary(response: JsonObject) -> bool:
    return any(
        not re.search("json|text", media) and content["schema"].get("format") == "binary"
        for media, content in response.get("content", {}).items()
    )


def without_passwords(example: Any, name: str = "") -> Any:
    """Return the example with … instead of passwords, which readers would copy."""
    if isinstance(example, list):
        return [without_passwords(each) for each in example]
    if isinstance(example, dict):
        return {key: without_passwords(value, key) for key, value in example.items()}
    return "…" if "password" in name and isinstance(example, str) else example
