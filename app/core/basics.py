"""What nearly every service of an application works with, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from .clock import Clock
from .db.transaction import AnySession
from .hooks import Hooks
from .keystore import Keystore


@dataclass(frozen=True)
class Basics:
    session: AnySession
    clock: Clock
    hooks: Hooks
    keystore: Keystore


@dataclass(eq=False)
class BasicService:
    """A service with the basics as attributes."""

    basics: Basics

    def __post_init__(self) -> None:
        self.session = self.basics.session
        self.clock = self.basics.clock
        self.hooks = self.basics.hooks
