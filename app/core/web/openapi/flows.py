"""Requests of common tasks, as shell commands in the description of the OpenAPI document."""

import re
from collections.abc import Iterator, Mapping

from flask import Flask

from ..blueprint import Blueprint

_VIEW = re.compile(r"\{(\w+)\}")
_EXAMPLES = """
## Examples

Each example uses the variables of the examples before it.

```sh
server={server}
```
"""
_EXAMPLE = """
### {title}

```sh
{commands}
```
"""


def examples(app: Flask, paths: Mapping[str, str], server: str) -> str:
    """Return the flows of the mounted blueprints. `paths` has the path of each endpoint."""
    flows = [
        _EXAMPLE.format(title=title, commands=commands.strip())
        for title, commands in _flows(app, paths)
    ]
    if not flows:
        return ""
    if "://" not in server:
        server = f"https://accounts.example.com{server.rstrip('/')}"
    return "".join([_EXAMPLES.format(server=server), *flows])


def _flows(app: Flask, paths: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for mount, blueprint in app.blueprints.items():
        if not isinstance(blueprint, Blueprint) or blueprint.flow is None:
            continue
        title, commands = blueprint.flow
        views = set(_VIEW.findall(commands))
        # An application can leave out routes of a blueprint.
        if all(f"{mount}.{view}" in paths for view in views):
            for view in views:
                commands = commands.replace(f"{{{view}}}", paths[f"{mount}.{view}"])
            yield title, commands
