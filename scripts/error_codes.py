"""`make errors`: writes docs/error-codes.md from the classes of the problems.

A class declares its code, status, title, cause and fix (`app/core/errors.py`). The page has a
section for each code; the `type` of a problem document links to it (`CORE__PROBLEM_TYPE_URL`).
"""

from __future__ import annotations

import json
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import app
from app.core.config.settings import CoreSettings
from app.core.errors import Problem
from app.core.web.problems import problem_document

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "error-codes.md"
# Reverse proxies return some problems themselves, in the place of the service.
PROXIES = [
    ROOT / "deploy" / "proxies" / name for name in ("Caddyfile", "haproxy.cfg", "nginx.conf")
]

_HEAD = """\
# Error codes

Find an error code of the HTTP API, what it means, and what to do about it.

Every error is a [problem document](errors.md): `code` is the stable name of the error, `title` its
meaning, and `type` a link to its section on this page. Set `CORE__PROBLEM_TYPE_URL` to link to a
custom page instead. `detail` can differ between the cases of a code.

An error that your application raises with its own code, or a status without a code on this
page, has the type `about:blank`.

This page is generated from the code by `make errors`.
"""
_DOCUMENT = re.compile(r'\{"type":"[^{}]*?\}')


def page() -> str:
    return "\n".join([_HEAD, *_index(), *_sections()])


@cache
def kinds() -> dict[str, list[type[Problem]]]:
    """Return the problems of each anchor, without classes that only share declarations."""
    for module in pkgutil.walk_packages(app.__path__, "app."):
        import_module(module.name)
    found: dict[str, list[type[Problem]]] = defaultdict(list)
    for kind in sorted(_subclasses(Problem), key=lambda each: (each.code, each.__qualname__)):
        if kind.__module__.startswith("app.") and kind.title and kind.cause:
            found[kind.anchor].append(kind)
    return dict(sorted(found.items()))


def section_of(code: str) -> str:
    """Return the link to the section of a code, from the folder of the page."""
    anchor = next(
        anchor for anchor, found in kinds().items() if code in {kind.code for kind in found}
    )
    return f"{PAGE.name}#{anchor}"


def with_types(text: str) -> str:
    """Return a reverse proxy's configuration with the current type and title of each problem."""
    by_code = {kind.code: kind for found in kinds().values() for kind in found}
    type_url = CoreSettings.model_fields["PROBLEM_TYPE_URL"].default

    def renew(found: re.Match[str]) -> str:
        document = json.loads(found[0])
        kind = by_code[document["code"]]
        return problem_document(kind, document["detail"], type_url).decode()

    return _DOCUMENT.sub(renew, text)


def _subclasses(kind: type[Problem]) -> set[type[Problem]]:
    return {kind}.union(*map(_subclasses, kind.__subclasses__()))


def _index() -> Iterator[str]:
    yield "| code | status | meaning |"
    yield "|---|---|---|"
    for anchor, found in kinds().items():
        for code in sorted({kind.code for kind in found}):
            same = [kind for kind in found if kind.code == code]
            statuses = ", ".join(str(status) for status in sorted({each.status for each in same}))
            yield f"| [`{code}`](#{anchor}) | {statuses} | {same[0].title} |"
    yield ""


def _sections() -> Iterator[str]:
    for anchor, found in kinds().items():
        yield f"## `{anchor}`\n"
        yield f"**{found[0].title}.**\n"
        codes = {kind.code for kind in found}
        for kind in found:
            code = f", code `{kind.code}`" if len(codes) > 1 else ""
            yield f"- **Status:** {kind.status}{code}, with the detail “{kind.detail}”"
            yield f"- **Cause:** {kind.cause}"
            yield f"- **What to do:** {kind.fix}\n"


def main() -> None:
    PAGE.write_text(page())
    for path in PROXIES:
        path.write_text(with_types(path.read_text()))


if __name__ == "__main__":
    main()
