"""The operation ids, which client generators use as names: `login`, `listTasks`, `getAccount`."""

import re
from collections.abc import Iterable

from flask import Flask

from ..blueprint import Blueprint


class Names:
    """Names of operations, independent of other mounted blueprints."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._taken: set[str] = set()

    def of(self, endpoint: str, method: str, methods: Iterable[str], ending: str = "") -> str:
        words = [*self._words(endpoint), *_split(ending)]
        if len(list(methods)) > 1:
            words = [method.lower(), *words]
        name = base = words[0] + "".join(word.capitalize() for word in words[1:])
        number = 2
        while name in self._taken:
            name, number = f"{base}{number}", number + 1
        self._taken.add(name)
        return name

    def _words(self, endpoint: str) -> list[str]:
        mount, _, view = endpoint.rpartition(".")
        blueprint = self._app.blueprints.get(mount)
        if not isinstance(blueprint, Blueprint):
            words = _split(endpoint)
            return [
                word for word, before in zip(words, ["", *words], strict=False) if word != before
            ]
        # Names of Frontdesk's views are unique. If a blueprint is mounted twice, the mount's name
        # distinguishes the operations: getProfile, getWorkspaceProfile.
        verb, *rest = _split(view)
        own = set(_split(blueprint.name))
        return [verb, *(word for word in _split(mount) if word not in own), *rest]


def _split(name: str) -> list[str]:
    return [word.lower() for word in re.split(r"[._-]+", name) if word]
