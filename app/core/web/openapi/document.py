import re
from collections.abc import Iterable, Iterator

from apispec import APISpec
from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Rule

from ...context import EXTENSION
from ...types import JsonObject
from ..blueprint import Blueprint, loaded
from ..operation import Operation, find_operation
from .examples import Components, completed, task_examples
from .json_schemas import Plugin, component_name
from .json_values import as_json
from .operations import Operations
from .responses import HEADERS, PROBLEM, ProblemRead, path_of

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_DESCRIPTION = """\
Errors are problem documents (RFC 9457). Show `detail` to people; use `code`, which is stable, in
programs. Each operation lists its codes. A 422 lists all invalid values in `errors`, a 401 for a
credential has `reason`, and a 429 has `retry_after`.

Lists are pages, selected by `offset` and `limit`. If there is a next page, the header `Link` with
`rel="next"` has its path. The last page has the total in `X-Total-Count`.

Times are in ISO 8601, in UTC with an offset. Texts must not contain NUL or lone surrogates;
required texts must not be blank. Unknown properties are ignored. Each response has the header
`X-Request-ID`, which the log contains too.
"""


def make_document(app: Flask, title: str, version: str, server: str) -> JsonObject:
    paths = {rule.endpoint: path_of(rule) for rule, _ in _documented(app)}
    spec = APISpec(
        title,
        version,
        "3.1.0",
        plugins=[Plugin(schema_name_resolver=component_name)],
        info={"description": _DESCRIPTION + task_examples(app, paths, server)},
        servers=[{"url": server}],
    )
    for name, header in HEADERS.items():
        spec.components.header(name, header)
    # Added first, because an application's schema may have the same name.
    spec.components.schema(PROBLEM, schema=ProblemRead)
    operations = Operations(spec, _token_urls(app))
    names = Names(app)
    # The name and description of the tag of each mount; views without a blueprint have the title.
    tags: dict[str, tuple[str, str]] = {}
    for rule, _ in sorted(_documented(app), key=lambda each: each[0].rule):
        mount = rule.endpoint.rpartition(".")[0]
        tag = mount.replace("_", " ") or title
        tags[mount] = tag, _about(app, mount)
        served = [(method, rule) for method in _methods(rule)]
        for method, found in [*served, *_further_methods(app, rule)]:
            view = loaded(app.view_functions[found.endpoint])
            described = find_operation(view) or Operation()
            ending = "" if found is rule else rule.rule.rpartition("/")[2]
            name = names.of(found.endpoint, method, _methods(found), ending)
            written = operations.write(name, method, rule, described, view.__doc__ or "")
            spec.path(path_of(rule), operations={method.lower(): {"tags": [tag], **written}})
    for mount in _in_order(app, tags):
        tag, about = tags[mount]
        spec.tag({"name": tag, "description": about} if about else {"name": tag})
    document: JsonObject = as_json(spec.to_dict())
    _complete_examples(document["paths"], spec.components.schemas)
    return document


def _documented(app: Flask) -> Iterator[tuple[Rule, Operation]]:
    for rule in app.url_map.iter_rules():
        if (described := _find_documented(app, rule)) is not None:
            yield rule, described


def _find_documented(app: Flask, rule: Rule) -> Operation | None:
    """Return the operation of a route, or None for a page and for a route without documentation."""
    if rule.endpoint.rpartition(".")[0] in app.extensions[EXTENSION].mounted.pages:
        return None
    described = find_operation(app.view_functions[rule.endpoint])
    return None if described is None or described.hidden else described


def _methods(rule: Rule) -> list[str]:
    return [method for method in _METHODS if method in (rule.methods or ())]


def _further_methods(app: Flask, rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Yield methods that this path has only through a path with variables, such as `GET
    /workspaces/{workspace_slug}` for `/workspaces/current`: tools match the path without variables
    first, and look for operations only there."""
    if rule.arguments:
        return
    adapter = app.url_map.bind("")
    for method in _METHODS:
        try:
            found, _ = adapter.match(rule.rule, method, return_rule=True)
        except HTTPException:
            continue
        if found.arguments and _find_documented(app, found) is not None:
            yield method, found


def _token_urls(app: Flask) -> list[str]:
    """Return the paths of the routes that return a token for email address and password."""
    return sorted(
        rule.rule
        for rule, described in _documented(app)
        if described.signs_in and not rule.arguments
    )


def _in_order(app: Flask, mounts: Iterable[str]) -> list[str]:
    """Return the mounts in the order of their registration, with the one that signs in first."""
    first = {
        rule.endpoint.rpartition(".")[0]
        for rule, described in _documented(app)
        if described.signs_in
    }
    position = {mount: at for at, mount in enumerate(app.blueprints)}
    last = len(position)
    return sorted(mounts, key=lambda mount: (mount not in first, position.get(mount, last)))


def _about(app: Flask, mount: str) -> str:
    blueprint = app.blueprints.get(mount)
    return blueprint.about if isinstance(blueprint, Blueprint) else ""


def _complete_examples(paths: JsonObject, components: Components) -> None:
    for operations in paths.values():
        for described in operations.values():
            for part in (described.get("requestBody", {}), *described["responses"].values()):
                for content in part.get("content", {}).values():
                    if "example" in content:
                        content["example"] = completed(
                            content["example"], content["schema"], components
                        )


class Names:
    """The operation ids, which client generators use as names: `login`, `listTasks`.

    They are independent of other mounted blueprints.
    """

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
