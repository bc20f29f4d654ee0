"""`@answers(200, Schema)`: what a view returns, put into the response by its schema.

A view on a hot path returns what is `ready` to be shown (`row_reader` makes it) and its schema only
documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, Protocol
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
    operation,
    synchronous,
)
from .paging import one_more, page_of
from .request_data import schema_for, schema_instance

_OPTIONS = orjson.OPT_NON_STR_KEYS


class ResponseDecorator(Protocol):
    """A decorator that keeps what the view takes, and makes a response of what it returns."""

    def __call__(self, view: Callable[Params, Any], /) -> Callable[Params, Response]: ...


def json_response(
    data: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    response = Response(
        orjson.dumps(data, option=_OPTIONS), status=status, mimetype="application/json"
    )
    if headers:
        response.headers.update(headers)
    return response


def row_serializer(
    schema: type[Schema], columns: Sequence[str] | None = None
) -> Callable[[Sequence[Any]], JsonObject]:
    """Makes what a read schema shows of rows that have just these columns, in this order; or those
    of `columns`, and then what a row does not have is left out.

    For hot routes: the schema alone decides what leaves, and its own dump costs ten times as much.
    Written out, as `dataclasses` write out an `__init__`: `dict(zip(…))` takes nearly
    twice as long.
    """
    names = field_names(schema)
    places = {name: index for index, name in enumerate(names if columns is None else columns)}
    items = []
    for name in names:
        field = schema_instance(schema).dump_fields[name]
        if isinstance(field, IsUnset) and field.attribute in places:
            items.append(f"{name!r}: row[{places[field.attribute]}] is None")
        elif name in places:
            items.append(f"{name!r}: row[{places[name]}]")
    reader: Callable[[Sequence[Any]], JsonObject] = eval(  # noqa: S307
        f"lambda row: {{{', '.join(items)}}}"
    )
    return reader


@cache
def field_names(schema: type[Schema]) -> tuple[str, ...]:
    """The names of a read schema's fields, in its order."""
    for name, field in schema_instance(schema).dump_fields.items():
        if isinstance(field, IsUnset):
            continue
        if field.attribute or field.data_key or isinstance(field, (fields.Nested, fields.Method)):
            raise TypeError(f"{schema.__name__}.{name} is not shown as it is: dump it.")
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
    """`many`: the view returns a list. `paged`: a part of one, by the query's `offset` and `limit`;
    the view is asked for one row more than the client is, and where it comes a `Link` leads on.
    `sliced`: the same where the view returns a `Slice`, which knows where the next one begins.
    `ready`: the response is the result of the view, without a schema. `media`: types of a file."""
    is_list = many or paged or sliced

    def decorate(view: Callable[Params, Any]) -> Callable[Params, Response]:
        run = synchronous(view)

        @wraps(view)
        def view_then_answer(*args: Params.args, **kwargs: Params.kwargs) -> Response:
            query: Values = {}
            if paged:
                query = _query(view, kwargs)
                kwargs["query"] = one_more(query)
            result = run(*args, **kwargs)
            if isinstance(result, Response):
                return result
            headers: Mapping[str, str] = {}
            if paged:
                result, headers = page_of(result, query)
            elif sliced:
                result, headers = result.rows, result.headers()
            if schema is not None and not ready:
                result = _dump(schema_for(schema), result, is_list, view)
            return json_response(result, status, headers)

        operation(view_then_answer).answers[status] = DocumentedResponse(
            schema, is_list, paged=paged or sliced, media=media, description=description
        )
        return view_then_answer

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
    """Written above `@answers`, for what clients ask again and again: they keep the answer, and
    hear 304 as long as it would be the same."""

    @wraps(view)
    def view_then_compare(*args: Params.args, **kwargs: Params.kwargs) -> Response:
        response = view(*args, **kwargs)
        body, link = response.get_data(), response.headers.get("Link", "")
        # A checksum is enough: a client that forges a collision deceives only itself.
        tag = f'"{len(body):x}-{crc32(link.encode(), crc32(body)):08x}"'
        response.headers.add("ETag", tag)
        response.headers.add("Cache-Control", "private, no-cache")
        if tag not in request.environ.get("HTTP_IF_NONE_MATCH", ""):
            return response
        unchanged = Response(status=304, headers=response.headers)
        del unchanged.headers["Content-Type"], unchanged.headers["Content-Length"]
        return unchanged

    operation(view_then_compare).polled = True
    return view_then_compare


def _dump(schema: Schema, result: object, many: bool, view: View) -> Any:
    dumped = schema.dump(result, many=many)
    if schema.dump_fields and (({} in dumped) if many else not dumped) and result != {}:
        # Marshmallow finds nothing in what it does not expect, and says nothing.
        kind, shows = type(result).__name__, type(schema).__name__
        hint = "" if many else " A list takes many=True."
        raise TypeError(
            f"{view.__qualname__} returned a {kind}, and {shows} finds nothing to show in it.{hint}"
        )
    return dumped
