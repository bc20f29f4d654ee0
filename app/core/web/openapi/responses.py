"""The responses of an operation. Those of errors are a problem document for each status, with its
codes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from itertools import chain
from typing import Any

from apispec import APISpec
from marshmallow import Schema, fields
from marshmallow.validate import Range
from werkzeug.routing import Rule

from ...context import find_context
from ...errors import REASONS, Conflict, NotFound, Problem, Unavailable
from ...keystore.base import KeystoreUnavailable
from ...types import JsonObject
from ..fields import EnumField, NamedEnum, response_field
from ..operation import (
    SAFE_METHODS,
    AuthScheme,
    DocumentedResponse,
    Operation,
    ScopedCredential,
    schema_class,
)
from ..problems import problem_response

PROBLEM = "Problem"
PLACES = NamedEnum("FaultLocation", ("json", "form", "files", "query", "headers", "path"))


def _header(description: str, **schema: object) -> JsonObject:
    return {"description": description, "schema": {"type": "string", **schema}}


HEADERS: dict[str, JsonObject] = {
    "X-Request-ID": _header("ID of the request, which the log contains too.", maxLength=128),
    "Retry-After": {
        "description": "Number of seconds to wait before the next request.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": _header(
        "Authentication that the route accepts; with `error` if the request had a credential."
    ),
    "ETag": _header("Version of the response, for the header `If-None-Match`."),
    "Link": _header('Next page, if there is one: `<path>; rel="next"`, a path on the same origin.'),
    "X-Total-Count": {
        "description": "Total number of items; only on the last page.",
        "schema": {"type": "integer", "minimum": 0},
    },
}

_WAIT = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)


def _headers_of(
    status: int, described: Operation, answer: DocumentedResponse | None = None
) -> JsonObject:
    names = ["X-Request-ID"]
    if status == HTTPStatus.UNAUTHORIZED:
        names.append("WWW-Authenticate")
    if status in _WAIT:
        names.append("Retry-After")
    if described.polled and status in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED):
        names.append("ETag")
    if answer is not None and answer.paged:
        names.extend(("Link", "X-Total-Count"))
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def answers(described: Operation) -> JsonObject:
    found = dict(described.answers)
    if described.polled:
        nothing_new = "Not changed since the response with the `ETag` in `If-None-Match`"
        found[HTTPStatus.NOT_MODIFIED] = DocumentedResponse(None, description=nothing_new)
    return {
        str(int(status)): {
            "description": answer.description or HTTPStatus(status).phrase,
            "headers": _headers_of(status, described, answer),
            **_content(answer, described, status),
        }
        for status, answer in sorted(found.items())
    }


def _content(answer: DocumentedResponse, described: Operation, status: int) -> JsonObject:
    if answer.schema is None:
        binary = {"schema": {"type": "string", "format": "binary"}}
        return {"content": dict.fromkeys(answer.media, binary)} if answer.media else {}
    schema: Any = schema_class(answer.schema)
    content: JsonObject = {"schema": {"type": "array", "items": schema} if answer.many else schema}
    examples = described.examples
    if status < HTTPStatus.MULTIPLE_CHOICES and "answer" in examples:
        content["example"] = examples.get(f"answer_{status}", examples["answer"])
    return {"content": {"application/json": content}}


class FaultRead(Schema):
    location = response_field(
        EnumField, "Part of the request that contains the invalid value.", PLACES
    )
    field = response_field(
        fields.String,
        "Name of the invalid field; nested names are separated by dots.",
        metadata={"example": "title"},
    )
    message = response_field(
        fields.String,
        "Why the value is invalid.",
        metadata={"example": "Missing data for required field."},
    )
    code = response_field(
        fields.String, "Stable code of the error for programs.", metadata={"example": "required"}
    )
    params = response_field(
        fields.Dict,
        "Values for the text of the error, such as `min` and `max`; empty for most codes.",
        keys=fields.String(),
        metadata={"example": {}},
    )


class ProblemRead(Schema):
    class Meta:
        description = "RFC 9457"

    type = response_field(
        fields.String, "URL of the description of the error code, or `about:blank`."
    )
    title = response_field(
        fields.String, "Meaning of the error code. It is the same for each error with the code."
    )
    status = response_field(fields.Integer, "HTTP status.")
    detail = response_field(fields.String, "What happened, for people.")
    code = response_field(fields.String, "Stable error code for programs.")
    reason = EnumField(
        NamedEnum("CredentialReason", REASONS),
        metadata={
            "description": "Why the credential was rejected, or that there was none; only in a"
            " response with the status 401."
        },
    )
    retry_after = fields.Integer(
        validate=Range(min=1),
        metadata={
            "description": "Number of seconds in `Retry-After`; only in a response with the status"
            " 429."
        },
    )
    errors = fields.List(
        fields.Nested(FaultRead),
        metadata={"description": "All invalid values; with 409, values that another account has."},
    )


def documented(described: Operation, method: str, rule: Rule) -> dict[int, list[type[Problem]]]:
    found: dict[int, list[type[Problem]]] = defaultdict(list)
    kinds: list[type[Problem]] = [*described.problems, Unavailable]
    if described.signs_in or (described.bearer and method not in SAFE_METHODS):
        # Sign-ins and changes use the state store, for example to count failures; reads do not.
        kinds.append(KeystoreUnavailable)
    for find in described.found_problems:
        kinds.extend(find())
    if has_converter(rule):
        # A value that the converter rejects, such as `abc` for a row's id, matches no route.
        kinds.append(NotFound)
    if described.bearer and method not in SAFE_METHODS:
        for way in find_context().contributions(AuthScheme):
            kinds.extend(way.problems)
    if described.bearer:
        for credential in find_context().contributions(ScopedCredential):
            kinds.extend(credential.problems)
    for kind in dict.fromkeys(kinds):
        found[kind.status].append(kind)
    if Conflict.status in found and Conflict not in found[Conflict.status]:
        # Of concurrent requests, the database may detect the conflict.
        found[Conflict.status].append(Conflict)
    return {status: found[status] for status in sorted(found.keys() - described.answers.keys())}


def failures(
    spec: APISpec, operation: str, described: Operation, method: str, rule: Rule
) -> JsonObject:
    by_status = documented(described, method, rule)
    if not by_status:
        return {}
    reference = _component(spec, operation, chain.from_iterable(by_status.values()))
    return {
        str(status): {
            "description": "; ".join(dict.fromkeys(kind.detail for kind in found)),
            "headers": _headers_of(status, described),
            "content": {
                "application/problem+json": {
                    "schema": reference,
                    "examples": {kind.code: {"value": _example(kind)} for kind in found},
                }
            },
        }
        for status, found in by_status.items()
    }


def _component(spec: APISpec, operation: str, kinds: Iterable[type[Problem]]) -> JsonObject:
    """Return a reference to the operation's problem, which lists all codes of the operation."""
    name = f"{operation[0].upper()}{operation[1:]}Problem"
    spec.components.schema(
        f"{name}Code", {"type": "string", "enum": sorted({kind.code for kind in kinds})}
    )
    code = {"code": {"$ref": f"#/components/schemas/{name}Code"}}
    spec.components.schema(
        name,
        {
            "allOf": [
                {"$ref": f"#/components/schemas/{PROBLEM}"},
                {"type": "object", "properties": code, "required": ["code"]},
            ]
        },
    )
    return {"$ref": f"#/components/schemas/{name}"}


def _example(kind: type[Problem]) -> object:
    # Without `__init__` of the subclass, which may require arguments.
    problem: Problem = kind.__new__(kind)
    wait = {"Retry-After": "300"} if kind.status == HTTPStatus.TOO_MANY_REQUESTS else None
    Problem.__init__(problem, headers=wait)
    return problem_response(problem).get_json(force=True)


_VARIABLE = re.compile(r"<(?:(?P<converter>[^:<>]+):)?(?P<name>[^<>]+)>")
# Converters that accept every path segment.
_ANY_TEXT = (None, "default", "string", "path")


def path_of(rule: Rule) -> str:
    return _VARIABLE.sub(r"{\g<name>}", rule.rule)


def variables_of(rule: Rule) -> Iterator[tuple[str, str | None]]:
    for match in _VARIABLE.finditer(rule.rule):
        yield match["name"], match["converter"]


def has_converter(rule: Rule) -> bool:
    """Return whether some values of a variable match no route."""
    return any(converter not in _ANY_TEXT for _, converter in variables_of(rule))
