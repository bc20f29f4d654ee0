"""All hooks, with their default behavior.

Each function is one hook: it has the name of the decorator, the parameters of the application's
function, the default as its body, and the table of its section in `docs/hooks.md` as docstring.
Hooks with a session run in the request's transaction: before the commit, and an exception aborts
it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Request

from ..auth.recovery import Recovery
from ..core.context import service
from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.hooks import Hook, call_all, chain, hook, merge_results, named_hook
from ..core.types import JsonObject, Values
from ..delivery.errors import SwitchedOff


@hook(merge_results)
def claims(account: Any, session: AnySession, /) -> Values:
    """Add claims to the access token

    Called: at each sign-in, inside its transaction, before the token is signed
    Returns: a mapping that is merged into the token's claims. `sub`, `exp`, `iat`, `nbf` and `type`
        are reserved: they are removed from the result of a hook, with a log message. The server
        adds `frontdesk` to an `aud`. Claims are for the client: the server ignores them. If several
        hooks return the same claim, the last one is used.
    Default: no additional claims
    """
    return {}


@hook(chain)
def payload(payload: JsonObject, session: AnySession, /) -> Values:
    """Change the response of a sign-in

    Called: at each sign-in, after the token is signed, before the commit
    Arguments: `payload` (a dict with `access_token`, `expires`, `token_type`, `account`, `user`;
        with `use_workspaces()` before it also `workspaces`, `current_workspace_id`), `session`
    Returns: the payload of the response. Additional members appear only if the
        [login schema](custom-schemas.md) declares them.
    Default: the unchanged payload
    """
    return payload


@hook(call_all)
def provider_claims(account: Any, provider: str, claims: Values, session: AnySession, /) -> object:
    """Use the claims of an identity provider

    Called: at each sign-in through an identity provider, inside its transaction, after its
        [groups](idp.md#groups) and before the account is checked and the token is signed
    Arguments: `account` (its row is locked), `provider` (the name in `AUTH.PROVIDERS`, or
        `default`), `claims` (verified), `session`
    Returns: nothing. An exception aborts the sign-in; a `Problem` is the response.
    Default: the claims change nothing
    """
    return None


@hook()
def may_register(email: str, method: str, session: AnySession, /) -> bool | Problem:
    """Decide who can register

    Called: before a user registers or changes the email address, if the settings allow it; before
        anything is written, and before an existing account is looked up
    Arguments: `email` (in lower case), `method` (`registration`, `code`, `invitation`, `provider`
        or `email-change`), `session`
    Returns: `True` or `False`, or a `Problem` for the response (for example after a failed
        captcha). If email addresses must be verified, a rejected address gets an email; otherwise
        the response is 403.
    Default: all addresses that `AUTH.REGISTRATION` and `AUTH.ALLOW_IDP_OAUTH_SIGNUP` allow
    """
    return True


@hook()
def recovery_mail(*, email_to: str, username: str, token: str, code: str) -> object:
    """Send the password recovery email yourself

    Called: when a user requests a password recovery, after token and code are created; no
        transaction is open
    Returns: nothing. An exception is logged and does not fail the request.
    Default: an email from `reset_password.html`, or from the application's template of that name
    """
    service(Recovery).mail(email_to, token, code)
    return None


@hook(at_start=True)
def authenticate(request: Request, /) -> Any:
    """Accept a credential of your own

    Called: once for each request that is authenticated, by a decorator or a page, unless its
        `Authorization` header has a bearer token; before the session cookie is read. Register one
        function, before `init_app`.
    Arguments: `request`
    Returns: an account, its id, or an [`Authenticated`](custom-authentication.md) with one of
        them; or `None` for a request without your credential. An id that does not exist: 401. A
        `Problem` that the hook raises is the response.
    Default: only access tokens and session cookies
    """
    return None


@hook()
def workspace_resolver(
    session: AnySession, account: Any, path_params: Values, headers: Mapping[str, str], /
) -> str | None:
    """Select the workspace of a request

    Called: at each request to a route with a workspace decorator without `resolver=`
    Arguments: `session`, `account` (or `None`), `path_params`, `headers` (names in lower case)
    Returns: a slug, or `None`: 404 "No workspace specified."
    Default: the path parameter `workspace_slug`
    """
    return path_params.get("workspace_slug")


@hook()
def receivers(accounts: list[Any], session: AnySession, /) -> Iterable[Any]:
    """Change the recipients of a notification

    Called: when a notification is sent, inside its transaction, before inbox rows, emails and SMS
        are created
    Arguments: `accounts` (the recipients), `session`
    Returns: accounts, or their ids
    Default: the recipients are not changed, and no account is loaded
    """
    return accounts


@named_hook
def channel(message: Any, receiver: Any, /) -> str | None:
    """Deliver notifications over a custom channel

    Called: when a delivery on this channel is due, in a worker, after the commit
    Arguments: `message` (`title`, `message`, `context`…), `receiver` (`id`, `email`, `phone`)
    Returns: the gateway's id of the message, or `None`. After an exception, the delivery is retried
    Replaces: the built-in channel, if the name is `email` or `sms`
    Default: `push` and `discord` are skipped with a warning
    """
    raise SwitchedOff("Nothing handles this channel")


@named_hook
def exporter(account: Any, session: AnySession, /) -> Iterable[tuple[str, Any]]:
    """Add files to a data export

    Called: when the data export of an account is created, in a worker
    Arguments: `account`, `session` (a separate session, to read with)
    Returns: pairs of a file name and its content: bytes, or any other value as JSON. With a
        generator, only one file at a time is in memory. The files are in a folder with the hook's
        name, and cannot be outside of it.
    Default: only [Frontdesk's data](exports.md)
    """
    return ()


@hook(call_all)
def eraser(account: Any, session: AnySession, /) -> object:
    """Delete your data of an account

    Called: before an account is deleted, inside its transaction
    Returns: nothing. An exception aborts the deletion. Delete files, and data in other services,
        with `after_commit(session, action)`.
    Default: Frontdesk's data is deleted, and rows that the database deletes by foreign keys
    """
    return None


HOOKS: dict[str, Hook[Any]] = {
    hook.name: hook
    for hook in (
        claims,
        payload,
        provider_claims,
        may_register,
        recovery_mail,
        authenticate,
        workspace_resolver,
        receivers,
        channel,
        exporter,
        eraser,
    )
}
