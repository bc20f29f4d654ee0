"""Tools for tests of Frontdesk, and of applications that mount it.

Names are imported at first use: pytest imports this package in every run, for the plugin.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import Answer as Answer
    from .client import Api as Api
    from .clock import SteppingClock as SteppingClock
    from .database import noted_queries as noted_queries
    from .database import rolled_back as rolled_back
    from .kit import Kit as Kit
    from .outbox import MailOutbox as MailOutbox
    from .outbox import SmsOutbox as SmsOutbox
    from .people import PASSWORD as PASSWORD
    from .people import Person as Person

_HOMES = {
    "Answer": "client",
    "Api": "client",
    "Kit": "kit",
    "MailOutbox": "outbox",
    "PASSWORD": "people",
    "Person": "people",
    "SmsOutbox": "outbox",
    "SteppingClock": "clock",
    "noted_queries": "database",
    "rolled_back": "database",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
