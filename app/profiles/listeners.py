from __future__ import annotations

from typing import Any

from flask.blueprints import BlueprintSetupState

from ..accounts.models import AccountLike
from ..accounts.service import DELETED
from ..core.desk import EXTENSION, Desk, service
from .service import Profiles


def forget_picture(account: AccountLike, options: dict[str, Any]) -> None:
    """Listener on `account-deleted`: the database takes the profile along, not its file."""
    service(Profiles).forget(account.id)


def listen(state: BlueprintSetupState) -> None:
    """Where the blueprint is mounted there are profiles, and their tables."""
    desk: Desk = state.app.extensions[EXTENSION]
    desk.emitter.on(DELETED, forget_picture)
