from ..accounts.service import Accounts
from ..core.context import Context
from ..core.web.blueprint import Blueprint
from ..core.web.lazy_views import LazyView
from . import preferences
from .preferences import Preferences
from .unsubscribe import BLUEPRINT, UnsubscribeTokens, Unsubscribing


def assemble(context: Context) -> None:
    preferences.assemble(context)
    context.provide(Unsubscribing, _unsubscribing)


def _unsubscribing(context: Context) -> Unsubscribing:
    return Unsubscribing(
        context.session,
        context.get(Accounts),
        context.get(Preferences),
        context.get(UnsubscribeTokens),
    )


blueprint = Blueprint(BLUEPRINT, __name__, assemble=assemble, about="One-click unsubscribe")
for method, name in (
    ("GET", "open_unsubscribe_link"),
    ("POST", "unsubscribe"),
    ("DELETE", "undo_unsubscribe"),
):
    view = LazyView(f"unsubscribe_routes.{name}", __package__)
    blueprint.add_url_rule("/unsubscribe/<token>", view_func=view, methods=[method])
