"""`@takes(json=…, query=…)`: validates the request's data with schemas before the view runs.

One 422 lists the errors of all locations. Authorization decorators stand above this decorator, so
they run before anything is read.
"""

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

from ..coded_messages import CodedMessage
from ..errors import BadRequest, Conflict, Fault, Invalid, TooLarge, UnsupportedMediaType
from ..types import JsonObject, Values
from .faults import prepare_schema, read_faults
from .operation import Params, Result, SchemaSource, ViewDecorator, operation, synchronous

MAX_BODY = 1024 * 1024

# Returns the data of a location (json, form, query) for the schema that loads it, or None for what
# the request has there.
PageData = Callable[[str, Schema], Any]
# The key in the WSGI environment while a page calls a view.
PAGE_DATA = "frontdesk.page_data"
_SCHEMAS = "frontdesk.schemas"

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


class UnreadableBody(BadRequest):
    code = "unreadable_body"
    detail = "The request body could not be read"
    title = "The request body cannot be read"
    cause = "The request body is incomplete, or its form data or multipart data is malformed."
    fix = "Send the complete body with a correct `Content-Length` and `Content-Type`."
    security_event = "input"


def takes(*, max_body: int = MAX_BODY, **locations: SchemaSource) -> ViewDecorator:
    """Validate the request with marshmallow schemas, and pass the loaded values to the view.

    Args:
        max_body: Maximum size of the body in bytes.
        locations: A schema for each of `json`, `form`, `files`, `query` and `headers`. The view
            gets a keyword argument of the same name.

    Raises:
        Invalid: The request has invalid fields. The response is 422 and names all of them.

    Example::

        @app.post("/notes")
        @active_account_required
        @takes(json=NoteCreate)
        @answers(201, NoteRead)
        def pin_note(json):
            return create_note(json)
    """

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        run = synchronous(view)

        @wraps(view)
        def load_and_call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            # A body without a length is truncated at the limit: one more byte shows that it was
            # longer.
            request.max_content_length = max_body + 1
            faults: list[Fault] = []
            for location, source in locations.items():
                schema = prepare_schema(schema_for(source))
                try:
                    kwargs[location] = schema.load(_read(location, schema))
                except ValidationError as error:
                    faults.extend(read_faults(error, location))
            if faults:
                raise Invalid(faults=faults)
            try:
                return run(*args, **kwargs)
            except (Conflict, Invalid) as problem:
                problem.faults = [
                    _add_location(fault, locations, kwargs) for fault in problem.faults
                ]
                raise

        described = operation(load_and_call)
        described.reads.update(locations)
        described.problems.append(Invalid)
        if "json" in locations:
            described.problems.append(MalformedJson)
        if locations.keys() & {"json", "form", "files"}:
            described.problems.extend((UnreadableBody, UnsupportedMediaType, TooLarge))
        return load_and_call

    return decorate


def load_body(schema: type[Schema], body: Values) -> Any:
    """Validate a body as `takes` does."""
    try:
        return prepare_schema(schema_instance(schema)).load(body)
    except ValidationError as error:
        raise Invalid(faults=read_faults(error, "json")) from None


@contextmanager
def called_by_page(data: PageData) -> Iterator[None]:
    """Have views in the block read the page's data instead of the request's, and return values
    instead of responses (`answers`).

    Files and headers are still those of the request.
    """
    environ = request.environ
    before = environ.get(PAGE_DATA)
    environ[PAGE_DATA] = data
    try:
        yield
    finally:
        environ[PAGE_DATA] = before


def _read(location: str, schema: Schema) -> Any:
    data: PageData | None = request.environ.get(PAGE_DATA)
    if data is None or location in ("files", "headers"):
        return _READERS[location](schema)
    found = data(location, schema)
    return _READERS[location](schema) if found is None else found


def _add_location(fault: Fault, locations: Mapping[str, SchemaSource], loaded: Values) -> Fault:
    """Add the location to an error that a service has raised for a field."""
    if fault.location:
        return fault
    name = fault.field.partition(".")[0]
    schemas = {location: schema_for(source) for location, source in locations.items()}
    declared = [location for location, schema in schemas.items() if name in _names(schema)]
    given = [location for location in declared if name in loaded[location]]
    # A field that no schema declares is an unknown property that a schema allows.
    return fault._replace(location=next(iter([*reversed(given), *declared, *locations])))


def _names(schema: Schema) -> Iterator[str]:
    return (field.data_key or name for name, field in schema.load_fields.items())


@cache
def schema_instance(schema: type[Schema]) -> Schema:
    """Return a cached instance, because creating one copies all fields."""
    return schema()


def schema_for(source: SchemaSource) -> Schema:
    """Return the schema of a view. A schema that the application chooses is found only once."""
    if isinstance(source, type):
        return schema_instance(source)
    cached: dict[SchemaSource, Schema] = current_app.extensions.setdefault(_SCHEMAS, {})
    found = cached.get(source)
    if found is None:
        found = cached[source] = schema_instance(source())
    return found


def choose_schemas_again(app: Flask) -> None:
    """Clear the cache of the application's schemas after one was replaced."""
    app.extensions.pop(_SCHEMAS, None)


def may_be_missing(schema: Schema | type[Schema]) -> bool:
    """Return whether the schema treats a missing body as an empty object."""
    return getattr(schema.Meta, "may_be_missing", False)


def _read_json(schema: Schema) -> object:
    body = _read_body()
    if not body.strip():
        if may_be_missing(schema):
            return {}
        # A missing body is an error, unlike an empty object.
        raise ValidationError(
            schema.validate({}) or [CodedMessage("Send a JSON object.", "required")]
        )
    if not (request.mimetype == "application/json" or request.mimetype.endswith("+json")):
        raise UnsupportedMediaType("Send the body as application/json")
    return read_json(body)


def _read_body() -> bytes:
    try:
        body = request.get_data(cache=True)
    except RequestEntityTooLarge:
        raise TooLarge from None
    except Exception:
        # Servers raise different exceptions for an invalid chunk or a lost client.
        raise UnreadableBody from None
    _check_size(len(body))
    return body


def _check_size(size: int) -> None:
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
    _check_size(request.stream.tell())
    return values


def _read_query(schema: Schema) -> JsonObject:
    return _single(request.args, schema)


def _read_headers(schema: Schema) -> dict[str, str]:
    return {name: request.headers[name] for name in _names(schema) if name in request.headers}


def _single(values: MultiDict[str, Any], schema: Schema) -> JsonObject:
    """Return one value for each name, and a list for list fields."""
    loaded = {field.data_key or name: field for name, field in schema.load_fields.items()}
    result: JsonObject = {}
    repeated: dict[str, list[str]] = {}
    for name, given in values.lists():
        if isinstance(loaded.get(name), fields.List):
            result[name] = given
        elif len(given) > 1 and name in loaded:
            repeated[name] = [CodedMessage("Given more than once.", "repeated")]
        else:
            result[name] = given[0]
    if repeated:
        raise ValidationError(repeated)
    return result


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


def read_json(body: bytes) -> object:
    if _deeper_than(body, MAX_DEPTH):
        raise MalformedJson(f"The request body is nested over {MAX_DEPTH} levels")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson from None


def _deeper_than(body: bytes, levels: int) -> bool:
    """Return whether the JSON is nested deeper; counting the brackets is enough for most bodies."""
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
