from collections.abc import Sequence

from apispec import APISpec
from werkzeug.routing import Rule

from ...context import current_frontdesk
from ...types import JsonObject
from ..operation import AuthScheme, Operation, PathVariable, ScopedCredential, schema_class
from ..request_data import may_be_missing
from .responses import answers, failures, variables_of

_BODIES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "files": "multipart/form-data",
}
# Schemas of path variables; an application's routes use Flask's converters.
_CONVERTERS: dict[str | None, JsonObject] = {
    "row_id": {"type": "integer", "minimum": 1},
    "int": {"type": "integer", "minimum": 0},
    "float": {"type": "number", "minimum": 0},
    "uuid": {"type": "string", "format": "uuid"},
}
_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "description": "`ETag` of the response that the client has. While it is current: 304.",
    "required": False,
    "schema": {"type": "string"},
}


def _schema_of(converter: str | None) -> JsonObject:
    if converter == "account_id":
        return dict(current_frontdesk.tables.account_ids.path_schema)
    return _CONVERTERS.get(converter, {"type": "string"})


class Operations:
    """Writes operations into the document, with the security schemes."""

    def __init__(self, spec: APISpec, token_urls: Sequence[str]) -> None:
        self._spec = spec
        self._ways = ["bearer"]
        spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer"})
        if token_urls:
            flows = {"password": {"tokenUrl": token_urls[0], "scopes": {}}}
            spec.components.security_scheme("login", {"type": "oauth2", "flows": flows})
            self._ways.append("login")
        for way in current_frontdesk.contributions(AuthScheme):
            if way.scheme is not None:
                spec.components.security_scheme(way.name, dict(way.scheme()))
                self._ways.append(way.name)
        self._has_scopes = bool(current_frontdesk.all_contributions(ScopedCredential))

    def write(
        self, name: str, method: str, rule: Rule, described: Operation, docstring: str
    ) -> JsonObject:
        summary, _, description = docstring.strip().partition("\n")
        written: JsonObject = {
            "operationId": name,
            "summary": summary,
            "parameters": [*_path_parameters(rule, described), *_other_parameters(described)],
            "responses": answers(described) | failures(self._spec, name, described, method, rule),
            "security": self._security(described),
        }
        access = f"Access: {'; '.join(dict.fromkeys(described.access)) or 'anyone'}."
        scopes = " ".join(f"`{name}`" for name in self._scopes(described))
        named = [f"Scope of tokens: {scopes}."] if scopes else []
        written["description"] = " ".join([*description.split(), access, *named])
        for place, kind in _BODIES.items():
            if place in described.reads:
                written["requestBody"] = _body(described, place, kind)
        return written

    def _security(self, described: Operation) -> list[dict[str, list[str]]]:
        """Return the alternative security schemes."""
        if not described.bearer:
            return []
        ways: list[dict[str, list[str]]] = [{way: []} for way in self._ways]
        # Only a bearer token can have scopes.
        ways[0] = {"bearer": self._scopes(described)}
        return [{}, *ways] if described.optional else ways

    def _scopes(self, described: Operation) -> list[str]:
        return [*described.scopes] if self._has_scopes else []


def _path_parameters(rule: Rule, described: Operation) -> list[JsonObject]:
    found = []
    meanings = {
        each.name: each.description for each in current_frontdesk.all_contributions(PathVariable)
    }
    for name, converter in variables_of(rule):
        schema = _schema_of(converter)
        parameter = {"in": "path", "name": name, "required": True, "schema": schema}
        if meaning := described.variables.get(name, meanings.get(name)):
            parameter["description"] = meaning
        found.append(parameter)
    return found


def _other_parameters(described: Operation) -> list[JsonObject]:
    found = [
        {"in": where, "schema": schema_class(described.reads[place])}
        for place, where in (("query", "query"), ("headers", "header"))
        if place in described.reads
    ]
    headers = {name: text for find in described.headers for name, text in find().items()}
    for name, text in headers.items():
        parameter = {"in": "header", "name": name, "description": text, "required": False}
        found.append({**parameter, "schema": {"type": "string"}})
    return [*found, _IF_NONE_MATCH] if described.polled else found


def _body(described: Operation, place: str, kind: str) -> JsonObject:
    schema = schema_class(described.reads[place])
    content: JsonObject = {"schema": schema}
    if place in described.examples:
        content["example"] = described.examples[place]
    return {"required": not may_be_missing(schema), "content": {kind: content}}
