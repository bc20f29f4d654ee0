"""Routes of the caller's preferences, which blueprints.notifications has."""

from ..auth.caller import caller
from ..auth.decorators import active_account_required
from ..auth.scopes import NOTIFICATIONS_READ, NOTIFICATIONS_WRITE, scope
from ..core.context import service
from ..core.types import JsonObject
from ..core.web.operation import example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers
from .errors import MandatoryKind
from .preferences import Preferences
from .preferences_schemas import CHOICES, PREFERENCES, PreferencesRead, PreferencesUpdate


@active_account_required
@scope(NOTIFICATIONS_READ, workspace=False)
@example(answer=PREFERENCES)
@answers(200, PreferencesRead, ready=True)
def get_preferences() -> JsonObject:
    """Get the caller's preferences

    Lists all kinds of notifications, with the channels that can be turned off.
    """
    return service(Preferences).read(caller().account.id)


@active_account_required
@scope(NOTIFICATIONS_WRITE, workspace=False)
@example(json=CHOICES, answer=PREFERENCES)
@raises(MandatoryKind)
@takes(json=PreferencesUpdate)
@answers(200, PreferencesRead, ready=True)
def set_preferences(json: PreferencesUpdate.Input) -> JsonObject:
    """Turn kinds of notifications on and off

    Changes the kinds and channels that are sent, all of them or, with an error, none.
    """
    return service(Preferences).change(caller().account.id, json["kinds"])
