"""The base classes of errors. Packages subclass them; `web/problems.py` renders them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, time
from itertools import islice
from typing import ClassVar, NamedTuple

from .coded_messages import INVALID, CodedMessage
from .types import JsonObject, Values

_NO_PARAMS: Values = {}
# The longest list in the params, such as the choices.
_MAX_ITEMS = 50
# The integers that the JSON encoder writes.
_INTEGERS = range(-(2**63), 2**64)


class Fault(NamedTuple):
    """One invalid field of a request."""

    # The part of the request: json, form, query …; empty until the route adds it.
    location: str
    field: str
    message: str
    code: str = INVALID
    params: Values = _NO_PARAMS

    @classmethod
    def of(cls, location: str, field: str, message: str) -> Fault:
        """Return the fault of a message, with its code if it has one."""
        if isinstance(message, CodedMessage):
            return cls(location, field, message, message.code, _plain(message.params))
        return cls(location, field, message)


def _plain(value: Values) -> JsonObject:
    return {name: _plain_value(each) for name, each in value.items()}


def _plain_value(value: object) -> object:
    """Return a param as the JSON encoder writes it, such as a string for a Decimal."""
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            return value if value in _INTEGERS else str(value)
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {str(name): _plain_value(each) for name, each in value.items()}
        case Iterable():
            return [_plain_value(each) for each in islice(value, _MAX_ITEMS)]
    return str(value)


class Problem(Exception):
    """An error that is rendered as a problem document (RFC 9457).

    Subclass it with the class attributes `status` (the HTTP status), `code` (a stable error code
    for programs) and `detail` (a sentence for people), and raise it anywhere in a request.

    Args:
        detail: Sentence for people, instead of the class's.
        headers: Headers of the response.
        faults: Invalid fields of the request.
        members: Additional members of the document, such as the `mfa_token` and the `methods` of
            `SecondFactorRequired`, or the `max_age` and `acr_values` of `ReauthenticationRequired`.
        note: Facts for the security log only.

    Example::

        class OutOfStock(Problem):
            status = 409
            code = "out_of_stock"
            detail = "The article is out of stock"

        raise OutOfStock
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    detail: str = "Internal server error"
    # The short sentence of the problem's type: one for each code (RFC 9457, section 4.2.1). A code
    # without a title has no type URL, and its documents have `about:blank`.
    title: ClassVar[str] = "The server failed unexpectedly"
    # For docs/error-codes.md: why the problem occurs, and what to do about it.
    cause: ClassVar[str] = "An unexpected error occurred. The log has the details."
    fix: ClassVar[str] = (
        "Send the request again later, and give the operator the `X-Request-ID` of the response."
    )
    # The section of docs/error-codes.md that describes the code.
    anchor: ClassVar[str] = code
    # The event in the security log for requests that this problem rejects; empty: not logged.
    security_event: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Take the title from the class that declares the code, so that a code has one title."""
        declared = vars(next(each for each in cls.__mro__ if "code" in vars(each)))
        cls.title = declared.get("title", "")
        cls.anchor = declared.get("anchor", cls.code)

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
        self.members = dict(members or {})
        # Facts for the security log only, never in the response; `event` replaces the log event.
        self.note = dict(note or {})
        super().__init__(self.detail)


class SetupError(RuntimeError):
    """The application is set up incorrectly. The message says how to fix it."""


class BadRequest(Problem):
    status = 400
    code = "bad_request"
    detail = "Bad request"
    title = "The request is not valid"
    cause = "The request is not valid HTTP/1.1, or the server cannot read it."
    fix = "Check the request line, the headers and the encoding of the request."


# The values of `reason` in a 401.
REASONS = MISSING, MALFORMED, EXPIRED, REVOKED, REJECTED = (
    "missing",
    "malformed",
    "expired",
    "revoked",
    "invalid",
)


class Unauthorized(Problem):
    """The request has no valid credentials."""

    status = 401
    code = "unauthorized"
    detail = "Could not validate credentials"
    title = "The request is not authenticated"
    cause = "The request has no valid credentials."
    fix = "Sign in, and send the access token as `Authorization: Bearer`."
    security_event = "credential"
    # Why the credential was rejected, for programs, or that there was none: one of `REASONS`.
    # Empty if the problem is not about the credential.
    reason: str = ""


class Forbidden(Problem):
    status = 403
    code = "forbidden"
    detail = "Not authorized"
    title = "The request is not allowed"
    cause = "The caller is authenticated, but not allowed to send this request."
    fix = "Ask an administrator for access."
    security_event = "entry"


class NotFound(Problem):
    status = 404
    code = "not_found"
    detail = "Not found"
    title = "Not found"
    cause = "No route or resource has this path."
    fix = "Check the path, the HTTP method and the API prefix."


class FeatureOff(NotFound):
    """A setting disables the feature. `note` has the setting's name, for the security log."""

    code = "feature_off"
    detail = "This feature is disabled"
    title = "The feature is disabled"
    cause = "A setting disables the feature. The log entry of the request names the setting."
    fix = "Use another feature, or ask the operator to enable this one."
    security_event = "input"


class Conflict(Problem):
    status = 409
    code = "conflict"
    detail = "This conflicts with what is stored"
    title = "The request conflicts with stored data"
    cause = "Another request stored or deleted the same data at the same time."
    fix = "Read the current data, then send the request again."


class QuotaReached(Conflict):
    """A limit on a number of objects, which waiting does not lift as it lifts a rate limit."""

    code = "quota_reached"
    detail = "The limit is reached"
    title = "A quota is reached"
    cause = "A maximum number of stored resources is reached. Waiting does not help."
    fix = "Delete resources that are no longer needed, or ask the operator to raise the limit."
    security_event = "limit"


class TooLarge(Problem):
    status = 413
    code = "too_large"
    detail = "The request body is too large"
    title = "The request body is too large"
    cause = "The request body is larger than the route accepts: 1 MiB, or 5 MiB for an avatar."
    fix = "Send a smaller body."
    security_event = "input"


class UnsupportedMediaType(Problem):
    status = 415
    code = "unsupported_media_type"
    detail = "Unsupported media type"
    title = "The content type is not supported"
    cause = "The route does not accept the `Content-Type` of the request."
    fix = "Send the content type that the HTTP API reference lists for the operation."
    security_event = "input"


class Invalid(Problem):
    status = 422
    code = "validation_error"
    detail = "Validation error"
    title = "The request contains invalid values"
    cause = "One or more values in the body, the query, the headers or the path are invalid."
    fix = (
        "Read `errors`, which lists all invalid values with their location and field, and"
        " correct them."
    )
    security_event = "input"

    @classmethod
    def about(cls, field: str, message: str) -> Invalid:
        """Return an error for a service to raise; `takes` adds the location of the field."""
        return cls(faults=[Fault.of("", field, message)])


class TooManyRequests(Problem):
    status = 429
    code = "too_many_requests"
    detail = "Too many requests"
    title = "Too many requests"
    cause = "A rate limit is exceeded."
    fix = "Wait for the number of seconds in `Retry-After`, then send the request again."
    security_event = "limit"

    def __init__(self, retry_after: int, *, note: Values | None = None) -> None:
        super().__init__(headers={"Retry-After": str(max(1, retry_after))}, note=note)


class BadGateway(Problem):
    status = 502
    code = "bad_gateway"
    detail = "An upstream server returned an invalid response"
    title = "Another server did not respond as expected"
    cause = "A server that this service calls is unreachable or returned an invalid response."
    fix = "Send the request again later. Operators find the cause in the log."


class Unavailable(Problem):
    status = 503
    code = "unavailable"
    detail = "The service is temporarily unavailable"
    title = "The service is temporarily unavailable"
    cause = (
        "The database, the file storage or another required service is unreachable or overloaded."
    )
    fix = (
        "Wait for the number of seconds in `Retry-After`, then send the request again."
        " Operators find the cause in the log."
    )

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"Retry-After": "1"})


class Busy(Unavailable):
    code = "busy"
    title = "The server is busy"
    cause = ""
