"""Errors as domain words. A slice subclasses these; they are rendered in one place, problems.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple


class Fault(NamedTuple):
    """One thing wrong with what was sent."""

    location: str
    field: str
    message: str


class Problem(Exception):
    """Something that is answered with a status, a stable code and a text for people."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    detail: str = "Internal server error"

    def __init__(
        self,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        if detail is not None:
            self.detail = detail
        self.headers = dict(headers or {})
        self.faults = list(faults)
        super().__init__(self.detail)


class SetupError(RuntimeError):
    """Frontdesk does not fit here as it is; the text says what to do."""


class BadRequest(Problem):
    status = 400
    code = "bad_request"
    detail = "Bad request"


class Unauthorized(Problem):
    status = 401
    code = "unauthorized"
    detail = "Could not validate credentials"


class Forbidden(Problem):
    status = 403
    code = "forbidden"
    detail = "Not authorized"


class NotFound(Problem):
    status = 404
    code = "not_found"
    detail = "Not found"


class Conflict(Problem):
    status = 409
    code = "conflict"
    detail = "This conflicts with what is stored"


class TooLarge(Problem):
    status = 413
    code = "too_large"
    detail = "The request body is too large"


class UnsupportedMediaType(Problem):
    status = 415
    code = "unsupported_media_type"
    detail = "Unsupported media type"


class Invalid(Problem):
    status = 422
    code = "validation_error"
    detail = "Validation error"

    @classmethod
    def field(cls, location: str, field: str, message: str) -> Invalid:
        return cls(faults=[Fault(location, field, message)])


class TooManyRequests(Problem):
    status = 429
    code = "too_many_requests"
    detail = "Too many requests"

    def __init__(self, retry_after: int) -> None:
        super().__init__(headers={"Retry-After": str(max(1, retry_after))})


class BadGateway(Problem):
    status = 502
    code = "bad_gateway"
    detail = "The identity provider did not answer as expected"


class Unavailable(Problem):
    status = 503
    code = "unavailable"
    detail = "The service is temporarily unavailable"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"Retry-After": "1"})
