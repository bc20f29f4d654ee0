"""Errors as domain words. A slice subclasses these; they are rendered in one place, problems.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from .types import Values


class Fault(NamedTuple):
    """One thing wrong with what was sent."""

    # Where the request carried it; empty where only the route knows.
    location: str
    field: str
    message: str


class Problem(Exception):
    """Something that is answered with a status, a stable code and a text for people.

    `status` is the HTTP status, `code` the stable word for programs, and `detail` a sentence for
    people. `members` is what the problem document has besides: the `mfa_token` and the `methods` of
    `SecondFactorRequired` and `EnrolmentRequired`, the `max_age` and `acr_values` of
    `ReauthenticationRequired`. `faults` says which inputs are wrong, and `headers` belong to the
    response.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    detail: str = "Internal server error"
    # The event in the security log for requests that this problem rejects; empty: not logged.
    security_event: ClassVar[str] = ""

    def __init__(
        self,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
        members: Values | None = None,
        note: Values | None = None,
    ) -> None:
        if detail is not None:
            self.detail = detail
        self.headers = dict(headers or {})
        self.faults = list(faults)
        # Additional members of the problem document, such as the possible next steps.
        self.members = dict(members or {})
        # Facts for the security log only, never in the response; `event` replaces the log event.
        self.note = dict(note or {})
        super().__init__(self.detail)


class SetupError(RuntimeError):
    """The set-up of the application is wrong; the text says what to do."""


class BadRequest(Problem):
    status = 400
    code = "bad_request"
    detail = "Bad request"


class Unauthorized(Problem):
    status = 401
    code = "unauthorized"
    detail = "Could not validate credentials"
    security_event = "credential"


class Forbidden(Problem):
    status = 403
    code = "forbidden"
    detail = "Not authorized"
    security_event = "entry"


class NotFound(Problem):
    status = 404
    code = "not_found"
    detail = "Not found"


class Conflict(Problem):
    status = 409
    code = "conflict"
    detail = "This conflicts with what is stored"


class QuotaReached(Conflict):
    """As much as one may have: waiting does not help, as it does with a rate."""

    code = "quota_reached"
    detail = "There are as many of these as are allowed"
    security_event = "limit"


class TooLarge(Problem):
    status = 413
    code = "too_large"
    detail = "The request body is too large"
    security_event = "input"


class UnsupportedMediaType(Problem):
    status = 415
    code = "unsupported_media_type"
    detail = "Unsupported media type"
    security_event = "input"


class Invalid(Problem):
    status = 422
    code = "validation_error"
    detail = "Validation error"
    security_event = "input"

    @classmethod
    def about(cls, field: str, message: str) -> Invalid:
        """Raised by a service; `takes` adds the place where the request carried the field."""
        return cls(faults=[Fault("", field, message)])


class TooManyRequests(Problem):
    status = 429
    code = "too_many_requests"
    detail = "Too many requests"
    security_event = "limit"

    def __init__(self, retry_after: int, *, note: Values | None = None) -> None:
        super().__init__(headers={"Retry-After": str(max(1, retry_after))}, note=note)


class BadGateway(Problem):
    status = 502
    code = "bad_gateway"
    detail = "A server that this one asks did not answer as expected"


class Unavailable(Problem):
    status = 503
    code = "unavailable"
    detail = "The service is temporarily unavailable"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"Retry-After": "1"})
