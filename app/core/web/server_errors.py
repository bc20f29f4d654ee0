"""Problems that the router, the server or a reverse proxy returns before a view is called."""

from ..errors import BadGateway, Problem


class MethodNotAllowed(Problem):
    status = 405
    code = "method_not_allowed"
    detail = "Method Not Allowed"
    title = "The method is not allowed"
    cause = "The path exists, but not with this HTTP method."
    fix = "Use one of the methods in the header `Allow`."


class RequestTimeout(Problem):
    status = 408
    code = "request_timeout"
    detail = "The request timed out"
    title = "The request took too long to arrive"
    cause = "The server did not receive the whole request in time."
    fix = "Send the request again, over a faster connection."


class LengthRequired(Problem):
    status = 411
    code = "length_required"
    detail = "The request body needs a Content-Length"
    title = "The request body requires a Content-Length"
    cause = "The request body was sent without a `Content-Length`."
    fix = "Send `Content-Length` instead of `Transfer-Encoding`."


class UriTooLong(Problem):
    status = 414
    code = "uri_too_long"
    detail = "The request line is too long"
    title = "The request line is too long"
    cause = "The request line, with path and query, is longer than 8190 bytes."
    fix = "Send long lists in the request body where the operation allows it."


class ExpectationFailed(Problem):
    status = 417
    code = "expectation_failed"
    detail = "Only 100-continue is supported"
    title = "The header Expect is not supported"
    cause = "The header `Expect` has another value than `100-continue`."
    fix = "Remove the header `Expect`, or set it to `100-continue`."


class HeadersTooLarge(Problem):
    status = 431
    code = "headers_too_large"
    detail = "The request's headers are too large"
    title = "The request headers are too large"
    cause = "The headers are over 64 KiB, there are over 100 of them, or one is over 8 KiB."
    fix = "Send fewer or shorter headers. In a browser, delete the cookies of the site."


class BrokenOff(BadGateway):
    """Returned by a reverse proxy in front of the service, such as `deploy/proxies/haproxy.cfg`."""

    code = "broken_off"
    detail = "The connection was closed"
    title = "The service closed the connection"
    cause = (
        "The service closed the connection to the reverse proxy before the response was complete."
    )
    fix = "Send the request again. Operators find the cause in the log of the service."


class TimedOut(Problem):
    """Returned by a reverse proxy in front of the service, such as `deploy/proxies/haproxy.cfg`."""

    status = 504
    code = "timed_out"
    detail = "The service took too long"
    title = "The service did not respond in time"
    cause = "The service did not respond to the reverse proxy in time."
    fix = "Send the request again later. Operators find the cause in the log of the service."
