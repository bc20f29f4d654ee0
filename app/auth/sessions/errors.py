from __future__ import annotations

from ...core.errors import BadRequest, NotFound


class SessionNotFound(NotFound):
    code = "session_not_found"
    detail = "Session not found"


class InvalidGrant(BadRequest):
    """Unknown, ended, used, foreign or no refresh token at all: the answer does not tell which."""

    code = "invalid_grant"
    detail = "Invalid token"
    security_event = "sign_in"


class UnsupportedGrant(BadRequest):
    """Another grant than the one there is; or that one, where it is switched off."""

    code = "unsupported_grant_type"
    detail = "This grant is not supported"
