"""All hooks, with their default behavior.

Each function is one hook: it has the name of the decorator, the parameters of the application's
function, the default as its body, and the table of its page in `docs/hooks/` as its docstring.
Hooks with a session run in the request's transaction: before the commit, and an exception aborts
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..auth.recovery import Recovery
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.hooks import Hook, call_all, chain, hook, merge_results, named_hook
from ..core.types import JsonObject, Values
from ..delivery.errors import SwitchedOff


@hook(merge_results)
def claims(account: Any, session: AnySession, /) -> Values:
    """The claims of a token

    Moment: at each sign-in, by password or provider, inside its transaction, before the token is
        signed
    Returns: a mapping that is merged into the token's claims. `sub`, `exp`, `iat`, `nbf` and `type`
        are reserved: they are removed from the result of a hook, with a log message. The server
        adds `frontdesk` to an `aud`. Claims are for the client: the server ignores them. If several
        hooks return a claim, the last one is used.
    Without it: no additional claims
    """
    return {}


@hook(chain)
def payload(payload: JsonObject, session: AnySession, /) -> Values:
    """The login response

    Moment: at each sign-in, after the token is signed, before the commit
    Receives: `payload` (a dict with `access_token`, `expires`, `token_type`, `account`, `user`;
        with `use_workspaces()` before it also `workspaces`, `current_workspace_id`), `session`
    Returns: the payload of the response. Additional members appear only if the
        [login schema](schemas.md) declares them.
    Without it: the unchanged payload
    """
    return payload


@hook()
def may_register(email: str, door: str, session: AnySession, /) -> bool | Problem:
    """Who may register

    Moment: before an account is created for an email address by its owner, if the settings allow
        it: before anything is written, and before the lookup of an existing account
    Receives: `email` (folded), `door` (`registration`, `code`, `invitation`, `provider`,
        `email-change`), `session`
    Returns: true or false, or a `Problem` for the response (for example after a failed captcha). A
        rejected address is notified by email if addresses must be verified; otherwise the response
        is 403.
    Without it: all addresses that `AUTH.REGISTRATION` and `AUTH.ALLOW_IDP_OAUTH_SIGNUP` allow
    """
    return True


@hook()
def recovery_mail(*, email_to: str, username: str, token: str, code: str) -> object:
    """The recovery email

    Moment: when a user requests a password recovery, after token and code are created; no
        transaction is open
    Returns: nothing. An exception is logged and does not fail the request.
    Without it: an email from `reset_password.html`, or from the application's template of that name
    """
    service(Recovery).mail(email_to, token, code)
    return None


@hook()
def workspace_resolver(
    session: AnySession, account: Any, path_params: Values, headers: Mapping[str, str], /
) -> str | None:
    """Which workspace a request is about

    Moment: at each request to a route with a workspace decorator without `resolver=`
    Receives: `session`, `account` (or None), `path_params`, `headers` (names in lower case)
    Returns: a slug, or None: 404 "No workspace specified."
    Without it: the path parameter `workspace_slug`
    """
    return path_params.get("workspace_slug")


@hook()
def receivers(accounts: list[Any], session: AnySession, /) -> Iterable[Any]:
    """Who receives a notification

    Moment: when a notification is sent, inside its transaction, before inbox rows, emails and SMS
        are created
    Receives: `accounts` (the recipients), `session`
    Returns: accounts, or their ids
    Without it: the recipients. Without a hook no account is loaded
    """
    return accounts


@named_hook
def channel(message: Any, receiver: Any, /) -> str | None:
    """A custom channel

    Moment: when a delivery on this channel is due, in a worker, after the commit
    Receives: `message` (`title`, `message`, `context`…), `receiver` (`id`, `email`, `phone`)
    Returns: the gateway's id of the message, or None. After an exception, the delivery is retried
    Replaces: the built-in channel, if the name is `email` or `sms`
    Without it: `push` and `discord` are skipped with a warning
    """
    raise SwitchedOff("Nothing handles this channel")


@named_hook
def exporter(account: Any, session: AnySession, /) -> Iterable[tuple[str, Any]]:
    """Files of the data export

    Moment: when the data export of an account is created, in a worker
    Receives: `account`, `session` (a separate session, to read with)
    Returns: pairs of a file name and its content: bytes, or any other value as JSON. With a
        generator, only one file at a time is in memory. The files are in a folder with the hook's
        name, and cannot be outside of it.
    Without it: only [Frontdesk's data](../exports.md)
    """
    return ()


@hook(call_all)
def eraser(account: Any, session: AnySession, /) -> object:
    """Deleting an account's data

    Moment: before an account is deleted, inside its transaction
    Returns: nothing. An exception aborts the deletion. Delete files, and data in other services,
        with `after_commit(session, action)`.
    Without it: Frontdesk's data is deleted, and rows that the database deletes by foreign keys
    """
    return None


HOOKS: dict[str, Hook[Any]] = {
    hook.name: hook
    for hook in (
        claims,
        payload,
        may_register,
        recovery_mail,
        workspace_resolver,
        receivers,
        channel,
        exporter,
        eraser,
    )
}
