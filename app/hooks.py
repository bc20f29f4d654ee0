"""Every moment that a host may decide, by name, with its quiet default.

Read alone, this file tells the default behaviour. Hooks that receive a session take part in the
request's transaction: they run before the commit, and raising aborts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema

from .core.transaction import AnySession
from .delivery.channel import Handler

Claims = Callable[[Any, AnySession], Mapping[str, Any]]
Payload = Callable[[dict[str, Any], AnySession], Mapping[str, Any]]
# From a request to the slug of a workspace: `(session, account, path_params, headers)`.
WorkspaceResolver = Callable[[AnySession, Any, Mapping[str, Any], Mapping[str, str]], str | None]
# Called with the keywords email_to, username, token and code.
RecoveryMail = Callable[..., object]
# Given the receivers' accounts, returns those who shall have it: accounts or their ids.
Receivers = Callable[[list[Any], AnySession], Iterable[Any]]


@dataclass
class Hooks:
    # Each takes part, in the order in which they were registered. None: the token carries `sub`,
    # `exp` and `iat` and nothing of the host's, and the login response is answered as it is.
    claims: list[Claims] = field(default_factory=list)
    payload: list[Payload] = field(default_factory=list)

    # None: the path parameter `workspace_slug`. Where a guard names a resolver, that one counts.
    workspace_resolver: WorkspaceResolver | None = None
    # None: the mail of `templates/reset_password.html`.
    recovery_mail: RecoveryMail | None = None

    # None: a notification goes to those it was sent to; with no hook, one to all is one statement.
    receivers: Receivers | None = None

    # The host's own channels, by name; one named like ours takes its place.
    channels: dict[str, Handler] = field(default_factory=dict)

    # None: the statuses of the setting AUTH.ACTIVE_STATUSES.
    active_statuses: Sequence[str] | None = None

    # Schemas that take the place of ours; None: the slice's own.
    account_schema: type[Schema] | None = None
    login_schema: type[Schema] | None = None
    # None: `auth_data` of the identity provider's callback is passed over.
    idp_payload_schema: type[Schema] | None = None
    task_create_schema: type[Schema] | None = None
    task_update_schema: type[Schema] | None = None

    def all_claims(self, account: Any, session: AnySession) -> dict[str, Any]:
        claims: dict[str, Any] = {}
        for hook in self.claims:
            claims |= _mapping("claims", hook(account, session))
        return claims

    def finish(self, payload: dict[str, Any], session: AnySession) -> dict[str, Any]:
        for hook in self.payload:
            payload = dict(_mapping("payload", hook(payload, session)))
        return payload


def _mapping(name: str, given: Any) -> Mapping[str, Any]:
    """A hook that has forgotten its `return` is told so by its name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"A {name} hook must return a mapping, not {type(given).__name__}")
    return given
