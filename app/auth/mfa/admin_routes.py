from __future__ import annotations

from typing import Any

from ...accounts.errors import AccountNotFound
from ...core.context import service
from ...core.web.answering import answers
from ...core.web.operation import example, raises
from ..caller import caller
from ..errors import NotAuthorized
from ..guards import superuser_required
from . import examples
from .blueprint import blueprint
from .guards import fresh_factor_required
from .resets import FactorResets
from .schemas import FactorsReset


@blueprint.delete("/admin/accounts/<account_id:account_id>/authenticators")
@superuser_required
@fresh_factor_required
@example(answer=examples.RESET)
@raises(AccountNotFound, NotAuthorized)
@answers(200, FactorsReset)
def reset_authenticators(account_id: Any) -> dict[str, int]:
    """Take all second factors from somebody who has lost them, and end every sign-in of theirs

    Whoever asks for it must have shown you who they are in another way.
    """
    gone = service(FactorResets).reset_another(caller().account, account_id)
    return {"authenticators": gone}
