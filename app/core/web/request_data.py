"""`@takes(json=…, query=…)`: what a request carries, validated by schemas before the view runs.

All the faults of all the places come back in one 422. Nothing is read before the guards above
this decorator have let the caller in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import orjson
from flask import Flask, current_app, request
from marshmallow import Schema, ValidationError, fields
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from ..errors import BadRequest, Fault, Invalid, TooLarge, UnsupportedMediaType
from ..types import JsonObject, Values
from .operation import (
    Params,
    Result,
    SchemaSource,
    ViewDecorator,
    operation,
    synchronous,
)

MAX_BODY = 1024 * 1024

# What a place of the request holds, for the schema that is to read it.
RequestDataSource = Callable[[str, Schema], Any]
_PRESENTER = "frontdesk.presenter"
_CHOSEN = "frontdesk.schemas"

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


class UnreadableBody(BadRequest):
    code = "unreadable_body"
    detail = "The request body could not be read"
    title = "The request body cannot be read"
    cause = "The request body is incomplete, or its form data or multipart data is malformed."
    fix = "Send the complete body with a correct `Content-Length` and `Content-Type`."
    security_event = "input"


def takes(*, max_body: int = MAX_BODY, **places: SchemaSource) -> ViewDecorator:
    """Load each named place (json, form, files, query, headers) and pass it on by that name."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        run = synchronous(view)

        @wraps(view)
        def read_then_view(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            # A body without a length is truncated at the limit: one more byte shows that it was
            # longer.
            request.max_content_length = max_body + 1
            faults: list[Fault] = []
            for place, source in places.items():
                schema = schema_for(source)
                try:
                    kwargs[place] = schema.load(_read(place, schema))
                except ValidationError as error:
                    faults.extend(_faults_of(error, place))
            if faults:
                raise Invalid(faults=faults)
            try:
                return run(*args, **kwargs)
            except Invalid as problem:
                problem.faults = [_placed(fault, places, kwargs) for fault in problem.faults]
                raise

        described = operation(read_then_view)
        described.reads.update(places)
        described.problems.append(Invalid)
        if "json" in places:
            described.problems.append(MalformedJson)
        if places.keys() & {"json", "form", "files"}:
            described.problems.extend((UnreadableBody, UnsupportedMediaType, TooLarge))
        return read_then_view

    return decorate


def load_body(schema: type[Schema], body: Values) -> Any:
    """As `takes` reads it, for what was put together here."""
    try:
        return schema_instance(schema).load(body)
    except ValidationError as error:
        raise Invalid(faults=_faults_of(error, "json")) from None


def _faults_of(error: ValidationError, place: str) -> list[Fault]:
    return [Fault(place, *pair) for pair in _flatten(error.messages)]


@contextmanager
def override_request_data(present: RequestDataSource) -> Iterator[None]:
    """Within it, views read what `present` returns in the place of what the request carries: for a
    form in this process that does what a route does. Files are the request's in any case."""
    before = request.environ.get(_PRESENTER)
    request.environ[_PRESENTER] = present
    try:
        yield
    finally:
        request.environ[_PRESENTER] = before


def _read(place: str, schema: Schema) -> Any:
    present: RequestDataSource | None = request.environ.get(_PRESENTER)
    if present is None or place in ("files", "headers"):
        return _READERS[place](schema)
    return present(place, schema)


def _placed(fault: Fault, places: Mapping[str, SchemaSource], loaded: Values) -> Fault:
    """A service knows which field is wrong, and only the route where the request carried it."""
    if fault.location:
        return fault
    name = fault.field.partition(".")[0]
    schemas = {place: schema_for(source) for place, source in places.items()}
    may_carry = [place for place, schema in schemas.items() if name in _names(schema)]
    did_carry = [place for place in may_carry if name in loaded[place]]
    # What no schema names is a property that one of them lets through.
    return fault._replace(location=next(iter([*reversed(did_carry), *may_carry, *places])))


def _names(schema: Schema) -> Iterator[str]:
    return (field.data_key or name for name, field in schema.load_fields.items())


@cache
def schema_instance(schema: type[Schema]) -> Schema:
    """One instance for each schema: making one copies all its fields."""
    return schema()


def schema_for(source: SchemaSource) -> Schema:
    """Return the schema of a view. One that the application's settings choose is chosen once for
    each application."""
    if isinstance(source, type):
        return schema_instance(source)
    chosen: dict[SchemaSource, Schema] = current_app.extensions.setdefault(_CHOSEN, {})
    found = chosen.get(source)
    if found is None:
        found = chosen[source] = schema_instance(source())
    return found


def choose_schemas_again(app: Flask) -> None:
    """Forget which schemas the application has chosen, after one of them was replaced."""
    app.extensions.pop(_CHOSEN, None)


def may_be_missing(schema: Schema | type[Schema]) -> bool:
    """Whether a missing body is the same as an empty object, as the schema's `Meta` declares."""
    return getattr(schema.Meta, "may_be_missing", False)


def _read_json(schema: Schema) -> Any:
    body = _read_body()
    if not body.strip():
        if may_be_missing(schema):
            return {}
        # An empty object says that nothing is wanted; no body says nothing.
        raise ValidationError(schema.validate({}) or ["Send a JSON object."])
    if not (request.mimetype == "application/json" or request.mimetype.endswith("+json")):
        raise UnsupportedMediaType("Send the body as application/json")
    return read_json(body)


def _read_body() -> bytes:
    try:
        body = request.get_data(cache=True)
    except RequestEntityTooLarge:
        raise TooLarge from None
    except Exception:
        # A server raises its own kinds for a broken chunk or a client that went away.
        raise UnreadableBody from None
    _refuse_over_limit(len(body))
    return body


def _refuse_over_limit(size: int) -> None:
    if size >= (request.max_content_length or sys.maxsize):
        raise TooLarge


def _read_form(schema: Schema) -> JsonObject:
    _expect_form((FORM, MULTIPART))
    return _single(_parsed(lambda: request.form), schema)


def _read_files(schema: Schema) -> dict[str, FileStorage]:
    _expect_form((MULTIPART,))
    return _single(_parsed(lambda: request.files), schema)


def _expect_form(kinds: tuple[str, ...]) -> None:
    if request.mimetype not in kinds and (request.mimetype or request.content_length):
        raise UnsupportedMediaType(f"Send the body as {kinds[0]}")


def _parsed(read: Callable[[], MultiDict[str, Any]]) -> MultiDict[str, Any]:
    try:
        values = read()
    except RequestEntityTooLarge:
        raise TooLarge from None
    except HTTPException:
        raise
    except Exception:
        raise UnreadableBody from None
    _refuse_over_limit(request.stream.tell())
    return values


def _read_query(schema: Schema) -> JsonObject:
    return _single(request.args, schema)


def _read_headers(schema: Schema) -> dict[str, str]:
    return {name: request.headers[name] for name in _names(schema) if name in request.headers}


def _single(values: MultiDict[str, Any], schema: Schema) -> JsonObject:
    """One value for each name, save for the fields that are lists."""
    loaded = {field.data_key or name: field for name, field in schema.load_fields.items()}
    result: JsonObject = {}
    twice: dict[str, list[str]] = {}
    for name, given in values.lists():
        if isinstance(loaded.get(name), fields.List):
            result[name] = given
        elif len(given) > 1 and name in loaded:
            twice[name] = ["Given more than once."]
        else:
            result[name] = given[0]
    if twice:
        raise ValidationError(twice)
    return result


def _flatten(messages: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            # Marshmallow's name for "the whole of it".
            own = "" if name == "_schema" else str(name)
            yield from _flatten(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(messages, (list, tuple)):
        for inner in messages:
            yield from _flatten(inner, path)
    else:
        yield path, str(messages)


_READERS: dict[str, Callable[[Schema], Any]] = {
    "json": _read_json,
    "form": _read_form,
    "files": _read_files,
    "query": _read_query,
    "headers": _read_headers,
}


MAX_DEPTH = 64


class MalformedJson(BadRequest):
    code = "malformed_json"
    detail = "The request body is not valid JSON"
    title = "The request body is not valid JSON"
    cause = (
        "The request body is not JSON in UTF-8, contains `NaN` or `Infinity`, or is nested more"
        " than 64 levels deep."
    )
    fix = "Send valid JSON in UTF-8."
    security_event = "input"


def read_json(body: bytes) -> Any:
    if _deeper_than(body, MAX_DEPTH):
        raise MalformedJson(f"The request body is nested over {MAX_DEPTH} levels")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson from None


def _deeper_than(body: bytes, levels: int) -> bool:
    """Counting brackets first spares nearly every body the walk."""
    if body.count(b"[") + body.count(b"{") <= levels:
        return False
    depth = 0
    in_text = escaped = False
    for byte in body:
        if in_text:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_text = False
        elif byte == 0x22:
            in_text = True
        elif byte in b"[{":
            depth += 1
            if depth > levels:
                return True
        elif byte in b"]}":
            depth -= 1
    return False
