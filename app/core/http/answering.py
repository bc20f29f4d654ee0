"""`@answers(200, Schema)`: what a view returns, put into the response by its schema.

A view on a hot path returns a ready `Response` (from `json_response`) and its schema only
documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import orjson
from flask import Response

from .operation import Answer, SchemaSource, View, operation, schema_class
from .reading import instance

_OPTIONS = orjson.OPT_NON_STR_KEYS


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    response = Response(
        orjson.dumps(data, option=_OPTIONS), status=status, mimetype="application/json"
    )
    if headers:
        response.headers.update(headers)
    return response


def answers(
    status: int,
    schema: SchemaSource | None,
    *,
    many: bool = False,
    description: str = "",
    headers: Mapping[str, str] | None = None,
) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def view_then_answer(*args: Any, **kwargs: Any) -> Response:
            result = view(*args, **kwargs)
            if isinstance(result, Response):
                return result
            if schema is not None:
                result = instance(schema_class(schema)).dump(result, many=many)
            return json_response(result, status, headers)

        operation(view_then_answer).answers[status] = Answer(
            schema, many=many, description=description
        )
        return view_then_answer

    return decorate
