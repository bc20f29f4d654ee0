"""The headers that answers carry."""

from __future__ import annotations

from http import HTTPStatus

from ...types import JsonObject
from ..operation import DocumentedResponse, Operation


def _header(description: str, **schema: object) -> JsonObject:
    return {"description": description, "schema": {"type": "string", **schema}}


HEADERS: dict[str, JsonObject] = {
    "X-Request-ID": _header("Names the request, in the log too", maxLength=128),
    "Retry-After": {
        "description": "In how many seconds to try again",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": _header("How to say who one is"),
    "ETag": _header("Names this state of the answer, for `If-None-Match`"),
    "Link": _header('Where there is a next page: `<path>; rel="next"`, a path of the same origin'),
    "X-Total-Count": {
        "description": "How many there are in all; on the last page alone, where it costs nothing",
        "schema": {"type": "integer", "minimum": 0},
    },
}

_WAIT = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)


def headers_of(
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
