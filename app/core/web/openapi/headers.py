"""The headers of responses."""

from http import HTTPStatus

from ...types import JsonObject
from ..operation import DocumentedResponse, Operation


def _header(description: str, **schema: object) -> JsonObject:
    return {"description": description, "schema": {"type": "string", **schema}}


HEADERS: dict[str, JsonObject] = {
    "X-Request-ID": _header("ID of the request, which the log contains too.", maxLength=128),
    "Retry-After": {
        "description": "Number of seconds to wait before the next request.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": _header("Authentication that the route accepts."),
    "ETag": _header("Version of the response, for the header `If-None-Match`."),
    "Link": _header('Next page, if there is one: `<path>; rel="next"`, a path on the same origin.'),
    "X-Total-Count": {
        "description": "Total number of items; only on the last page.",
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
