"""The views of personal tokens, for their owners and for roots who end them, and of workspace
tokens, for owners and admins of the workspace."""

from collections.abc import Iterable, Sequence

from ..accounts.errors import AccountNotFound
from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import (
    account_required,
    active_account_required,
    fresh_required,
    superuser_required,
)
from ..auth.scopes import Scopes
from ..core.context import service
from ..core.types import AccountKey
from ..core.web.operation import View, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers
from ..workspaces.guards import (
    active_member_required,
    current_member,
    current_workspace,
    workspace_roles_required,
)
from ..workspaces.models import MANAGERS
from ..workspaces.resolvers import PathResolver
from . import schemas
from .errors import PersonalTokenNotFound, TooManyTokens, WorkspaceTokenNotFound
from .service import BY_OPERATOR, PersonalTokens, WorkspaceTokens
from .stored import ShownToken

IN_PATH = PathResolver()


@account_required
@example(answer=[schemas.SCOPE])
@answers(200, schemas.ScopeRead, many=True)
def list_scopes() -> Iterable[dict[str, str]]:
    """List the scopes that tokens can have"""
    known = service(Scopes).known
    return [{"name": name, "description": known[name]} for name in sorted(known)]


@active_account_required
@example(answer=[schemas.TOKEN])
@answers(200, schemas.PersonalTokenRead, many=True)
def list_personal_tokens() -> Sequence[ShownToken]:
    """List the caller's personal tokens, the newest first"""
    return service(PersonalTokens).list(caller().account.id)


@active_account_required
@fresh_required()
@example(json=schemas.BACKUP, answer=schemas.CREATED)
@raises(TooManyTokens)
@takes(json=schemas.PersonalTokenCreate)
@answers(201, schemas.PersonalTokenCreated)
def create_personal_token(json: schemas.PersonalTokenCreate.Input) -> ShownToken:
    """Create a personal token for a program

    The response has the token, which is stored nowhere and not shown again. An account can have 25
    valid tokens.
    """
    return service(PersonalTokens).create(caller(), json)


@active_account_required
@example(answer=schemas.TOKEN)
@raises(PersonalTokenNotFound)
@answers(200, schemas.PersonalTokenRead)
def end_personal_token(token_id: int) -> ShownToken:
    """End a personal token"""
    return service(PersonalTokens).end(caller().account.id, token_id)


@active_account_required
@example(answer=schemas.ENDED)
@answers(200, schemas.EndedTokens)
def end_personal_tokens() -> dict[str, int]:
    """End all of the caller's personal tokens"""
    return {"ended": service(PersonalTokens).end_all(caller().account.id)}


@superuser_required
@example(answer=[schemas.TOKEN])
@raises(AccountNotFound)
@answers(200, schemas.PersonalTokenRead, many=True)
def list_account_tokens(account_id: AccountKey) -> Sequence[ShownToken]:
    """List an account's personal tokens, the newest first"""
    return service(PersonalTokens).list(_existing(account_id))


@superuser_required
@example(answer=schemas.ENDED)
@raises(AccountNotFound)
@answers(200, schemas.EndedTokens)
def end_account_tokens(account_id: AccountKey) -> dict[str, int]:
    """End all personal tokens of an account"""
    return {"ended": service(PersonalTokens).end_all(_existing(account_id), BY_OPERATOR)}


@superuser_required
@example(answer=schemas.TOKEN)
@raises(AccountNotFound, PersonalTokenNotFound)
@answers(200, schemas.PersonalTokenRead)
def end_account_token(account_id: AccountKey, token_id: int) -> ShownToken:
    """End a personal token of an account"""
    return service(PersonalTokens).end(_existing(account_id), token_id, BY_OPERATOR)


def managers_only(view: View) -> View:
    """Require an owner or admin of the workspace with a recent sign-in."""
    managed = workspace_roles_required(*MANAGERS, resolver=IN_PATH)(fresh_required()(view))
    return active_account_required(active_member_required(resolver=IN_PATH)(managed))


@managers_only
@example(answer=[schemas.WORKSPACE_TOKEN])
@answers(200, schemas.WorkspaceTokenRead, many=True)
def list_workspace_tokens(workspace_slug: str) -> Sequence[ShownToken]:
    """List a workspace's tokens, the newest first

    Requires a recent sign-in.
    """
    return service(WorkspaceTokens).list(current_workspace.id)


@managers_only
@example(json=schemas.SYNC, answer=schemas.WORKSPACE_CREATED)
@raises(TooManyTokens)
@takes(json=schemas.WorkspaceTokenCreate)
@answers(201, schemas.WorkspaceTokenCreated)
def create_workspace_token(
    workspace_slug: str, json: schemas.WorkspaceTokenCreate.Input
) -> ShownToken:
    """Create a token of a workspace for a program

    The token acts as a member of the workspace, and survives the account that created it. The
    response has the token, which is stored nowhere and not shown again. A workspace can have 25
    valid tokens. Requires a recent sign-in.
    """
    return service(WorkspaceTokens).create(caller(), current_member, json)


@managers_only
@example(answer=schemas.WORKSPACE_TOKEN)
@raises(WorkspaceTokenNotFound)
@answers(200, schemas.WorkspaceTokenRead)
def end_workspace_token(workspace_slug: str, token_id: int) -> ShownToken:
    """End a token of a workspace

    Requires a recent sign-in.
    """
    return service(WorkspaceTokens).end(current_member, token_id)


def _existing(account_id: AccountKey) -> AccountKey:
    if service(Accounts).by_id(account_id) is None:
        raise AccountNotFound
    return account_id
