from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import Conflict, Forbidden


class OwnAccount(Forbidden):
    """What is one's own is changed elsewhere, or by somebody else."""

    code = "own_account"
    detail = "Nobody looks after their own account here"


class LastRoot(Conflict):
    code = "last_root"
    detail = "There must be an active root"


class SoleOwner(Conflict):
    """The document names the workspaces, each by its slug."""

    code = "sole_owner"
    detail = "The account is the only active owner of workspaces that others are in"

    def __init__(self, slugs: Sequence[str] = ()) -> None:
        super().__init__(members={"workspaces": list(slugs)})
