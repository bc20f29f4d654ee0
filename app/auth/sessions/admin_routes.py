from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...accounts.errors import AccountNotFound
from ...accounts.service import Accounts
from ...core.context import service
from ...core.web.answering import answers
from ...core.web.fields import Page
from ...core.web.operation import example, raises
from ...core.web.reading import takes
from ..caller import caller
from ..guards import active_account_required, roles_required
from . import examples
from .blueprint import blueprint
from .own import OwnSession, OwnSessions
from .schemas import SessionRead


@blueprint.get("/admin/accounts/<account_id:account_id>/sessions")
@active_account_required
@roles_required("admin", "root")
@example(answer=[{**examples.SESSION, "current": False}])
@raises(AccountNotFound)
@takes(query=Page)
@answers(200, SessionRead, paged=True)
def list_account_sessions(account_id: Any, query: dict[str, Any]) -> Sequence[OwnSession]:
    """List where an account is signed in, the newest first"""
    account = service(Accounts).by_id(account_id)
    if account is None:
        raise AccountNotFound
    return service(OwnSessions).list(caller(), account, **query)
