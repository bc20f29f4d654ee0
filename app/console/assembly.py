from __future__ import annotations

from ..auth.settings import AuthSettings
from ..core.context import Context
from ..core.errors import SetupError
from .desk import Desk


def assemble(context: Context) -> None:
    if context.settings.of(AuthSettings).COOKIE_SESSIONS == "off":
        raise SetupError(
            "The console signs in by a cookie: set AUTH.COOKIE_SESSIONS to `on`, or to `alone`"
            " where its pages alone do."
        )
    context.add(Desk(context))
    context.when_serving.append(lambda: _tell_of_first_root(context))
    context.unopened.append(lambda: _open_administration(context))


def _open_administration(context: Context) -> None:
    """Its pages need what its routes do, also where a host does not mount those."""
    from ..administration.assembly import assemble as administration
    from ..administration.view import AccountView

    if AccountView not in context.services and context.account_model is not None:
        administration(context)


def _tell_of_first_root(context: Context) -> None:
    # Here and not above: commands and tests never serve.
    from .first_run.telling import tell_beside

    tell_beside(context.app)
