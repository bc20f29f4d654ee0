"""`@answers(200, Schema)`: serializes the result of a view with a schema.

A view on a hot path returns what is `ready` to be shown (`row_reader` makes it) and its schema only
documents it. A page that calls the view (`called_by_page`) gets what the schema shows as Python
data: a dictionary, a list, or a `Slice`.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, wraps
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import orjson
from flask import Response, request
from marshmallow import Schema, fields

from ..errors import SetupError
from ..types import JsonObject, Values
from .fields import IsUnset
from .operation import (
    DocumentedResponse,
    Params,
    SchemaSource,
    View,
    find_operation,
    operation,
    synchronous,
)
from .paging import Slice, page_of, with_next_row
from .request_data import PAGE_DATA, schema_for, schema_instance

_OPTIONS = orjson.OPT_NON_STR_KEYS


class ResponseDecorator(Protocol):
    """The type of `answers`: the decorated view takes the same arguments and returns a Response."""

    def __call__(self, view: Callable[Params, Any], /) -> Callable[Params, Response]: ...


class AnswerWith(NamedTuple):
    """A view's result that is ready to be shown, or has another status."""

    result: Any
    # None for the status of the decorator next to the view.
    status: int | None = None
    ready: bool = False


def json_response(
    data: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    response = Response(
        orjson.dumps(data, _number, _OPTIONS), status=status, mimetype="application/json"
    )
    if headers:
        response.headers.update(headers)
    return response


def _number(value: object) -> orjson.Fragment:
    """Return a Decimal with all its digits, as the OpenAPI document shows it."""
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}" if value.is_finite() else "null")
    raise TypeError


def row_serializer(
    schema: type[Schema], columns: Sequence[str] | None = None
) -> Callable[[Sequence[Any]], JsonObject]:
    """Return a function that serializes a row with the columns of a read schema, in its order.

    With `columns`, rows have exactly these columns, and other fields are left out. For hot routes:
    the schema's `dump` takes ten times as long. The function is generated as source code, as
    `dataclasses` generate an `__init__`, because `dict(zip(…))` takes nearly twice as long.
    """
    names = field_names(schema)
    found = names if columns is None else columns
    # Unpacking a row takes less time than reading its values by index.
    values = {name: f"value{index}" for index, name in enumerate(found)}
    items = []
    for name in names:
        field = schema_instance(schema).dump_fields[name]
        if isinstance(field, IsUnset) and field.attribute in values:
            items.append(f"{name!r}: {values[field.attribute]} is None")
        elif name in values:
            items.append(f"{name!r}: {values[name]}")
    code = (
        f"def serialize(row):\n {', '.join(values.values())}, = row\n return {{{', '.join(items)}}}"
    )
    namespace: dict[str, Callable[[Sequence[Any]], JsonObject]] = {}
    exec(code, namespace)  # noqa: S102
    return namespace["serialize"]


@cache
def field_names(schema: type[Schema]) -> tuple[str, ...]:
    for name, field in schema_instance(schema).dump_fields.items():
        if isinstance(field, IsUnset):
            continue
        if field.attribute or field.data_key or isinstance(field, (fields.Nested, fields.Method)):
            raise TypeError(f"{schema.__name__}.{name} needs the schema's dump.")
    return tuple(schema_instance(schema).dump_fields)


def answers(
    status: int,
    schema: SchemaSource | None,
    *,
    many: bool = False,
    paged: bool = False,
    sliced: bool = False,
    ready: bool = False,
    media: Sequence[str] = (),
    description: str = "",
) -> ResponseDecorator:
    """Serialize the result of the view with a schema, and document it in the OpenAPI document.

    Further decorators above it document other statuses.

    Args:
        status: HTTP status of the response.
        schema: Marshmallow schema of the response; None for a response without a body.
        many: The view returns a list.
        paged: The view returns a page by the query's `offset` and `limit`. It is called with a
            limit of one more, which shows whether to add a `Link` to the next page.
        sliced: The view returns a `Slice`, which has the cursor of the next page.
        ready: The result is serialized already.
        media: Media types of a file.
        description: Description of the response.

    Example::

        @app.get("/notes")
        @active_account_required
        @answers(200, NoteRead, many=True)
        def notes(): ...
    """
    is_list = many or paged or sliced
    documented = DocumentedResponse(
        schema, is_list, paged=paged or sliced, media=media, description=description
    )
    return _serializer(status, documented, paged=paged, sliced=sliced, ready=ready)


def _serializer(
    status: int, documented: DocumentedResponse, *, paged: bool, sliced: bool, ready: bool
) -> ResponseDecorator:
    schema, is_list = None if ready else documented.schema, documented.many

    def decorate(view: Callable[Params, Any]) -> Callable[Params, Response]:
        if (found := find_operation(view)) is not None and found.answers:
            found.answers[status] = documented
            return view
        if found is not None and found.polled:
            raise SetupError(
                f"@polled of {view.__qualname__} is below @answers, where there is no response to"
                " compare yet: write @polled above @answers."
            )
        run = synchronous(view)

        @wraps(view)
        def call_and_serialize(*args: Params.args, **kwargs: Params.kwargs) -> Response:
            by_page = request.environ.get(PAGE_DATA) is not None
            query: Values = {}
            if paged and not by_page:
                query = _query(view, kwargs)
                kwargs["query"] = with_next_row(query)
            result = run(*args, **kwargs)
            if isinstance(result, Response):
                return result
            code, shows = status, schema
            if isinstance(result, AnswerWith):
                code = result.status or status
                shows = None if result.ready else described.answers[code].schema
                result = result.result
            if by_page:
                value: Response = _page_value(shows, result, is_list, view)
                return value
            headers: Mapping[str, str] = {}
            if paged:
                result, headers = page_of(result, query)
            elif sliced:
                result, headers = result.rows, result.headers()
            if shows is not None:
                result = _dump(schema_for(shows), result, is_list, view)
            return json_response(result, code, headers)

        described = operation(call_and_serialize)
        described.answers[status] = documented
        return call_and_serialize

    return decorate


def _query(view: View, given: Values) -> Values:
    if "query" not in given:
        raise SetupError(
            f"@answers(…, paged=True) on {view.__qualname__} needs the query's offset and limit:"
            " write @takes(query=Page) above it."
        )
    query: Values = given["query"]
    return query


def polled(view: Callable[Params, Response]) -> Callable[Params, Response]:
    """Add an `ETag` to the response, and respond with 304 while the response is unchanged.

    Write it above `@answers`.

    Example::

        @app.get("/prices")
        @active_account_required
        @polled
        @answers(200, PriceRead, many=True)
        def prices(): ...
    """

    @wraps(view)
    def call_and_compare(*args: Params.args, **kwargs: Params.kwargs) -> Response:
        response = view(*args, **kwargs)
        if not isinstance(response, Response):
            # The value, for a page.
            return response
        body, link = response.get_data(), response.headers.get("Link", "")
        # A checksum is enough: a client that forges a collision affects only itself.
        tag = f'"{len(body):x}-{crc32(link.encode(), crc32(body)):08x}"'
        response.headers.add("ETag", tag)
        response.headers.add("Cache-Control", "private, no-cache")
        if tag not in request.environ.get("HTTP_IF_NONE_MATCH", ""):
            return response
        unchanged = Response(status=304, headers=response.headers)
        del unchanged.headers["Content-Type"], unchanged.headers["Content-Length"]
        return unchanged

    operation(call_and_compare).polled = True
    return call_and_compare


def _page_value(schema: SchemaSource | None, result: object, many: bool, view: View) -> Any:
    """Return what the response would show, as the page that calls the view gets it."""
    if schema is None:
        return result
    if isinstance(result, Slice):
        return result._replace(rows=_dump(schema_for(schema), result.rows, many, view))
    return _dump(schema_for(schema), result, many, view)


def _dump(schema: Schema, result: object, many: bool, view: View) -> Any:
    dumped = schema.dump(result, many=many)
    if schema.dump_fields and (({} in dumped) if many else not dumped) and result != {}:
        # Marshmallow silently ignores attributes that are missing.
        kind, shows = type(result).__name__, type(schema).__name__
        hint = "" if many else " A list takes many=True."
        raise TypeError(
            f"{view.__qualname__} returned a {kind}, and {shows} has no field for it.{hint}"
        )
    return dumped
