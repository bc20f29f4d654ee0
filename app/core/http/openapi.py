"""The OpenAPI document, made from the records that the routes' own decorators leave (operation.py).

It is made on the first request for it: apispec is not imported before, and costs a start nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from flask import Flask
from marshmallow import Schema, fields
from werkzeug.routing import Rule

from ..errors import Problem, Unauthorized, Unavailable
from .operation import Answer, Operation, find_operation, schema_class
from .problems import problem_response

_VARIABLE = re.compile(r"<(?:(?P<converter>[^:<>]+):)?(?P<name>[^<>]+)>")
_BODIES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "files": "multipart/form-data",
}
# What a path's variable may be; a host's own routes use Flask's converters.
_CONVERTERS: dict[str | None, dict[str, Any]] = {
    "row_id": {"type": "integer", "minimum": 1},
    "int": {"type": "integer", "minimum": 0},
    "float": {"type": "number", "minimum": 0},
    "uuid": {"type": "string", "format": "uuid"},
}
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class FaultRead(Schema):
    location = fields.String(required=True, metadata={"example": "json"})
    field = fields.String(required=True, metadata={"example": "title"})
    message = fields.String(required=True, metadata={"example": "Missing data for required field."})


class ProblemRead(Schema):
    """RFC 9457."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    code = fields.String(required=True, metadata={"description": "A stable word for programs."})
    errors = fields.List(fields.Nested(FaultRead), metadata={"description": "In a 422 only."})


def make_document(app: Flask, title: str, version: str) -> dict[str, Any]:
    from apispec import APISpec
    from apispec.ext.marshmallow import MarshmallowPlugin

    spec = APISpec(title, version, "3.1.0", plugins=[MarshmallowPlugin(schema_name_resolver=_name)])
    spec.components.schema("Problem", schema=ProblemRead)
    schemes = _security_schemes(app)
    for name, scheme in schemes.items():
        spec.components.security_scheme(name, scheme)
    tags = set()
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        view = app.view_functions[rule.endpoint]
        described = find_operation(view)
        if described is None or described.hidden:
            continue
        tag = rule.endpoint.rpartition(".")[0].replace("_", " ") or title
        tags.add(tag)
        methods = [method for method in _METHODS if method in (rule.methods or ())]
        for method in methods:
            body = _operation(rule, described, view.__doc__ or "", tag)
            body["security"] = _security(described, schemes)
            body["operationId"] = f"{rule.endpoint.replace('.', '_')}" + (
                f"_{method.lower()}" if len(methods) > 1 else ""
            )
            spec.path(_VARIABLE.sub(r"{\g<name>}", rule.rule), operations={method.lower(): body})
    for tag in sorted(tags):
        spec.tag({"name": tag})
    document: dict[str, Any] = spec.to_dict()
    return document


def _name(schema: Any) -> str:
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__


def _operation(rule: Rule, described: Operation, docstring: str, tag: str) -> dict[str, Any]:
    summary, _, description = docstring.strip().partition("\n")
    body: dict[str, Any] = {
        "summary": summary,
        "tags": [tag],
        "parameters": [_path_parameter(match) for match in _VARIABLE.finditer(rule.rule)],
        "responses": _answers(described) | _problems(described),
    }
    if description.strip():
        body["description"] = " ".join(description.split())
    for place, source in described.reads.items():
        schema = schema_class(source)
        if place in _BODIES:
            content: dict[str, Any] = {"schema": schema}
            if place in described.examples:
                content["example"] = described.examples[place]
            body["requestBody"] = {"required": True, "content": {_BODIES[place]: content}}
        else:
            where = {"headers": "header"}.get(place, place)
            body["parameters"].append({"in": where, "schema": schema})
    headers = {name: text for find in described.headers for name, text in find().items()}
    for name, text in headers.items():
        parameter = {"in": "header", "name": name, "description": text, "required": False}
        body["parameters"].append({**parameter, "schema": {"type": "string"}})
    return body


def _path_parameter(match: re.Match[str]) -> dict[str, Any]:
    kind = _CONVERTERS.get(match["converter"], {"type": "string"})
    return {"in": "path", "name": match["name"], "required": True, "schema": kind}


def _security_schemes(app: Flask) -> dict[str, dict[str, Any]]:
    """A token that one has, or e-mail and password for one, where this application hands it out."""
    schemes: dict[str, dict[str, Any]] = {"bearer": {"type": "http", "scheme": "bearer"}}
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        described = find_operation(app.view_functions[rule.endpoint])
        if described is not None and described.signs_in and not rule.arguments:
            flow = {"tokenUrl": rule.rule, "scopes": {}}
            schemes.setdefault("login", {"type": "oauth2", "flows": {"password": flow}})
    return schemes


def _security(described: Operation, schemes: Iterable[str]) -> list[dict[str, list[str]]]:
    """Any one of them will do."""
    if not described.bearer:
        return []
    ways: list[dict[str, list[str]]] = [{name: []} for name in schemes]
    return [{}, *ways] if described.guard == "account_optional" else ways


def _answers(described: Operation) -> dict[str, Any]:
    responses = {}
    for status, answer in described.answers.items():
        text = answer.description or HTTPStatus(status).phrase
        responses[str(status)] = {"description": text, **_content(answer, described, status)}
    return responses


def _content(answer: Answer, described: Operation, status: int) -> dict[str, Any]:
    if answer.schema is None:
        return {}
    schema: Any = schema_class(answer.schema)
    content: dict[str, Any] = {
        "schema": {"type": "array", "items": schema} if answer.many else schema
    }
    if status < 300 and "answer" in described.examples:
        content["example"] = described.examples["answer"]
    return {"content": {answer.content_type: content}}


def _problems(described: Operation) -> dict[str, Any]:
    kinds: dict[int, list[type[Problem]]] = defaultdict(list)
    problems: list[type[Problem]] = [*described.problems, Unavailable]
    if described.bearer:
        problems.append(Unauthorized)
    for problem in dict.fromkeys(problems):
        kinds[problem.status].append(problem)
    return {
        str(status): {
            "description": "; ".join(dict.fromkeys(kind.detail for kind in found)),
            "content": {
                "application/problem+json": {
                    "schema": ProblemRead,
                    "examples": {kind.code: {"value": _example(kind)} for kind in found},
                }
            },
        }
        for status, found in sorted(kinds.items())
        if status not in described.answers
    }


def _example(kind: type[Problem]) -> Any:
    # The bare kind: some ask for arguments that an example does not have.
    problem: Problem = kind.__new__(kind)
    Problem.__init__(problem)
    return problem_response(problem).get_json(force=True)
