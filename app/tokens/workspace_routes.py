"""The views of a workspace's tokens, for its owners and admins."""

from collections.abc import Sequence

from ..auth.caller import caller
from ..auth.decorators import active_account_required, fresh_required
from ..core.context import service
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
from .errors import TooManyTokens, WorkspaceTokenNotFound
from .schemas import WorkspaceTokenCreate, WorkspaceTokenCreated, WorkspaceTokenRead
from .stored import ShownToken
from .workspace_service import WorkspaceTokens

IN_PATH = PathResolver()


def managers_only(view: View) -> View:
    """Require an owner or admin of the workspace with a recent sign-in."""
    managed = workspace_roles_required(*MANAGERS, resolver=IN_PATH)(fresh_required()(view))
    return active_account_required(active_member_required(resolver=IN_PATH)(managed))


@managers_only
@example(answer=[schemas.WORKSPACE_TOKEN])
@answers(200, WorkspaceTokenRead, many=True)
def list_workspace_tokens(workspace_slug: str) -> Sequence[ShownToken]:
    """List a workspace's tokens, the newest first

    Requires a recent sign-in.
    """
    return service(WorkspaceTokens).list(current_workspace.id)


@managers_only
@example(json=schemas.SYNC, answer=schemas.WORKSPACE_CREATED)
@raises(TooManyTokens)
@takes(json=WorkspaceTokenCreate)
@answers(201, WorkspaceTokenCreated)
def create_workspace_token(workspace_slug: str, json: WorkspaceTokenCreate.Input) -> ShownToken:
    """Create a token of a workspace for a program

    The token acts as a member of the workspace, and survives the account that created it. The
    response has the token, which is stored nowhere and not shown again. A workspace can have 25
    valid tokens. Requires a recent sign-in.
    """
    return service(WorkspaceTokens).create(caller(), current_member, json)


@managers_only
@example(answer=schemas.WORKSPACE_TOKEN)
@raises(WorkspaceTokenNotFound)
@answers(200, WorkspaceTokenRead)
def end_workspace_token(workspace_slug: str, token_id: int) -> ShownToken:
    """End a token of a workspace

    Requires a recent sign-in.
    """
    return service(WorkspaceTokens).end(current_member, token_id)
