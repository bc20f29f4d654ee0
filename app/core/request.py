"""The request for code below the routes: its id, and the origin of an action."""

import ipaddress
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any, Literal, NamedTuple

import click
from flask import Request, has_request_context, request

from .types import AccountKey

_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
# With the process id and a counter an id is unique, without a system call for random bytes.
_START = secrets.token_hex(6)
_COUNTER = count(1)
_KEY = "frontdesk.request_id"
_request: Any = request
# Returns the request behind Flask's proxy: each attribute of the proxy costs a look-up.
unwrap_request: Callable[[], Request] = _request._get_current_object
_HAS_EFFECT = "frontdesk.has_effect"
_ACCOUNT, _WORKSPACE = "frontdesk_origin_account", "frontdesk_origin_workspace"
_TOKEN, _PROVIDER = "frontdesk_origin_token", "frontdesk_origin_provider"
_IS_MEMBER, _IS_ADMIN = "frontdesk_origin_is_member", "frontdesk_origin_is_admin"


def request_id(current: Request | None = None) -> str:
    """Return the valid `X-Request-ID` of the client, or a new id; constant within a request."""
    environ = (current or request).environ
    found: str | None = environ.get(_KEY)
    if found is None:
        sent = environ.get("HTTP_X_REQUEST_ID")
        found = sent if sent is not None and _VALID_ID.fullmatch(sent) else new_request_id()
        environ[_KEY] = found
    return found


def new_request_id() -> str:
    return f"{_START}-{os.getpid():x}-{next(_COUNTER):x}"


class OriginToken(NamedTuple):
    """A token with scopes: the actor in the audit log, or what its account acted with."""

    id: int
    name: str


class Origin(NamedTuple):
    # An HTTP request, a command on the command line, or the service itself, such as a worker.
    kind: Literal["request", "command", "system"]
    # The id of the authenticated account.
    account_id: AccountKey | None = None
    workspace_id: Any = None
    # The client's IP address, through trusted proxies.
    address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None
    token: OriginToken | None = None
    # The name of the identity provider that acts, at a sign-in through it.
    provider: str | None = None


def current_origin() -> Origin:
    if has_request_context():
        found = unwrap_request()
        provider: str | None = getattr(found, _PROVIDER, None)
        return Origin(
            "request",
            getattr(found, _ACCOUNT, None) if provider is None else None,
            getattr(found, _WORKSPACE, None),
            found.remote_addr,
            found.environ.get("HTTP_USER_AGENT"),
            request_id(found),
            getattr(found, _TOKEN, None),
            provider,
        )
    return Origin("system" if click.get_current_context(silent=True) is None else "command")


def rejection_origin() -> Origin:
    """Return the origin of a rejected request, without the workspace unless the account is an
    active member or acts as an admin: managers of a workspace do not learn who else opens it."""
    origin = current_origin()
    if any(getattr(unwrap_request(), name, False) for name in (_IS_MEMBER, _IS_ADMIN)):
        return origin
    return origin._replace(workspace_id=None)


def requested_languages() -> list[str]:
    """Return the languages of `Accept-Language`, the preferred one first."""
    return [*unwrap_request().accept_languages.values()] if has_request_context() else []


def set_origin_account(account_id: AccountKey, current: Request | None = None) -> None:
    """Store the authenticated account of the request."""
    if current is not None or has_request_context():
        setattr(current or request, _ACCOUNT, account_id)


def set_origin_token(token: OriginToken | None, current: Request) -> None:
    """Store the token of the request, if it has one."""
    setattr(current, _TOKEN, token)


def set_origin_admin() -> None:
    """Note that the route has accepted the account's administrative role."""
    if has_request_context():
        setattr(request, _IS_ADMIN, True)


def set_origin_workspace(workspace_id: object, *, is_member: bool) -> None:
    """Store the workspace of the request, and whether the account is an active member."""
    if has_request_context():
        setattr(request, _WORKSPACE, workspace_id)
        setattr(request, _IS_MEMBER, is_member)


@contextmanager
def acting_provider(name: str) -> Iterator[None]:
    """Make an identity provider the actor of the actions that are reported in the block."""
    found = unwrap_request()
    setattr(found, _PROVIDER, name)
    try:
        yield
    finally:
        delattr(found, _PROVIDER)


def note_effect() -> None:
    """Note an effect that a rollback does not undo, so that the request is not repeated."""
    if has_request_context():
        unwrap_request().environ[_HAS_EFFECT] = True


def may_repeat(current: Request) -> bool:
    return _HAS_EFFECT not in current.environ


@lru_cache(1024)
def rate_limit_network(address: str) -> str:
    """Return what rate limits count an IP address as: one IPv6 customer has a whole /64."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:45] or "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        # On [::], all IPv4 addresses are in one /64.
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False).network_address)
    return str(found)
