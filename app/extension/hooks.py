"""Every moment that a host may decide, with what happens where it does not.

Read alone, this file tells the default behaviour. Each function is one hook: its name is the
decorator's, its parameters are what a host's function is called with, its body is the default, and
its docstring is the page in `docs/hooks/`. Hooks that receive a session take part in the request's
transaction: they run before the commit, and raising aborts it.
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
    Returns: a mapping that is merged into the token's claims; `sub`, `exp`, `iat`, `nbf` and `type`
        are ours alone: given by a hook they are left out, and the log says so. To an `aud` the
        server adds itself, `frontdesk`, so that the token is for others too. Claims are for the
        client: the server reads none of them back. Of several hooks the later one's claims win.
    Without it: no further claims
    """
    return {}


@hook(chain)
def payload(payload: JsonObject, session: AnySession, /) -> Values:
    """The login response

    Moment: at each sign-in, after the token is signed, before the commit
    Receives: `payload` (a dict with `access_token`, `expires`, `token_type`, `account`, `user`;
        with `use_workspaces()` before it also `workspaces`, `current_workspace_id`), `session`
    Returns: the payload to answer with. What it adds appears only where the
        [login schema](schemas.md) declares it.
    Without it: the payload as it is
    """
    return payload


@hook()
def may_register(email: str, door: str, session: AnySession, /) -> bool | Problem:
    """Who may register

    Moment: when an address is about to become an account that nobody made for it, where the
        settings allow it: before anything is written, and before it is looked up whether the
        address has one already
    Receives: `email` (folded), `door` (`registration`, `code`, `invitation`, `provider`,
        `email-change`), `session`
    Returns: a truth value, or a `Problem` that is then the answer (for a check that the client is
        no robot, say). A refused address is told so by mail where addresses must be proven, and
        answered 403 otherwise.
    Without it: everybody whom `AUTH.REGISTRATION` and `AUTH.ALLOW_IDP_OAUTH_SIGNUP` let in
    """
    return True


@hook()
def recovery_mail(*, email_to: str, username: str, token: str, code: str) -> object:
    """The recovery mail

    Moment: when somebody asks for a password recovery, after token and code are made; no
        transaction is open
    Returns: nothing. What it raises is logged and does not fail the request.
    Without it: a mail from `reset_password.html`; a template of that name in the host's own folder
        is taken instead
    """
    service(Recovery).mail(email_to, token, code)
    return None


@hook()
def workspace_resolver(
    session: AnySession,
    account: Any,
    path_params: Values,
    headers: Mapping[str, str],
    /,
) -> str | None:
    """Which workspace a request is about

    Moment: at each request to a route with a workspace guard that names no `resolver=` of its own
    Receives: `session`, `account` (or None), `path_params`, `headers` (names in lower case)
    Returns: a slug, or None: 404 "No workspace specified."
    Without it: the path parameter `workspace_slug`
    """
    return path_params.get("workspace_slug")


@hook()
def receivers(accounts: list[Any], session: AnySession, /) -> Iterable[Any]:
    """Who receives a notification

    Moment: when a notification is sent, inside its transaction, before inbox rows, mails and SMS
        are made
    Receives: `accounts` (those it was sent to), `session`
    Returns: accounts, or their ids
    Without it: those it was sent to. Without a hook no account is loaded, however many there are
    """
    return accounts


@named_hook
def channel(message: Any, receiver: Any, /) -> str | None:
    """A channel of the host's own

    Moment: when a delivery on this channel is due, in a worker, after the commit
    Receives: `message` (`title`, `message`, `context`…), `receiver` (`id`, `email`, `phone`)
    Returns: the gateway's id of the message, or None. What it raises is tried again later
    Named like ours: `email` or `sms` takes the place of ours
    Without it: `push` and `discord` are passed over with a warning
    """
    raise SwitchedOff("Nothing handles this channel")


@named_hook
def exporter(account: Any, session: AnySession, /) -> Iterable[tuple[str, Any]]:
    """What else is held of an account

    Moment: when a copy of all that is held of an account is made, in a worker
    Receives: `account`, `session` (of the copy's own, to read with)
    Returns: pairs of a file's name and its content: bytes as they are, and anything else as JSON. A
        generator has each of them in memory by itself. They come into a folder of the hook's name,
        and can neither leave it nor take another's place.
    Without it: [what Frontdesk holds](../exports.md) alone
    """
    return ()


@hook(call_all)
def eraser(account: Any, session: AnySession, /) -> object:
    """What else goes with an account

    Moment: when an account is deleted, inside its transaction, while it is still there
    Returns: nothing. What it raises undoes the deletion. Files and other services are for
        `after_commit(session, action)`.
    Without it: what Frontdesk holds goes, and whatever the database takes along
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
