from __future__ import annotations

from ..core.desk import Desk
from .errors import REMEDY
from .service import Accounts


def accounts_needed(desk: Desk) -> str | None:
    """What a blueprint that works on accounts misses where the application has none."""
    return None if Accounts in desk.services else REMEDY
