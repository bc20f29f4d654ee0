"""What a server answers by itself: problem documents too."""

from __future__ import annotations


def problem(status: int, code: str, detail: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """The id under which the log tells of it, the headers, and the body.

    No CORS header among them: what was to name the origin may not have come in, or not be believed.
    """
    # Here and not above: wsgi.py decides how the application is loaded.
    from ..core.web.envelope import DATA_POLICY, SECURITY_HEADERS
    from ..core.web.problems import PROBLEM_TYPE, problem_document
    from ..core.web.request_id import new_request_id

    body = problem_document(status, code, detail)
    request_id = new_request_id()
    headers = [
        ("Content-Type", PROBLEM_TYPE),
        ("Content-Length", str(len(body))),
        ("X-Request-ID", request_id),
        *SECURITY_HEADERS,
        ("Content-Security-Policy", DATA_POLICY),
    ]
    return request_id, headers, body
