"""`make scopes`: writes the table of scopes in docs/tokens.md, with the routes of each scope."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from app.auth.scopes import SCOPES

from .http_api import FOLDER, document

PAGE = FOLDER.parent / "tokens.md"
_HEAD = r"\| scope \| a token can \| routes \|\n\|---\|---\|---\|\n"
_TABLE = re.compile(rf"(?<={_HEAD}).*?(?=\n\n)", re.S)


def rewritten(text: str) -> str:
    """Return the page with a row for each scope."""
    return _TABLE.sub(lambda _: "\n".join(_rows()), text)


def routes() -> Mapping[str, list[str]]:
    """Return the routes of each scope, with the methods of each path."""
    methods: dict[str, dict[str, list[str]]] = {name: {} for name in SCOPES}
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            for name in _scopes(operation):
                methods[name].setdefault(_shortened(path), []).append(method.upper())
    return {
        name: [f"`{', '.join(each)} {path}`" for path, each in found.items()]
        for name, found in methods.items()
    }


def routes_for_workspace_tokens() -> Iterator[str]:
    """Yield the routes that accept tokens of a workspace."""
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            if "a token of the workspace" in operation["description"]:
                yield f"{method.upper()} {_shortened(path)}"


def _shortened(path: str) -> str:
    """Return the path without the prefix of the API, and with short names of its variables."""
    named = path.partition("/v1")[2].replace("{workspace_slug}", "{slug}")
    return re.sub(r"{\w+_id}", "{id}", named)


def _scopes(operation: Mapping[str, list[Mapping[str, list[str]]]]) -> Iterator[str]:
    for way in operation["security"]:
        yield from way.get("bearer", ())


def _rows() -> Iterator[str]:
    for name, listed in routes().items():
        does = SCOPES[name][0].lower() + SCOPES[name][1:]
        yield f"| `{name}` | {does} | {', '.join(listed)} |"


def main() -> None:
    PAGE.write_text(rewritten(PAGE.read_text()))


if __name__ == "__main__":
    main()
