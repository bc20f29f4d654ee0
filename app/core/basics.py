"""What nearly every service of an application works with, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from .clock import Clock
from .db.transaction import AnySession
from .events import Emitter
from .hooks import Hooks
from .keystore import Keystore


@dataclass(frozen=True)
class Basics:
    session: AnySession
    clock: Clock
    emitter: Emitter
    hooks: Hooks
    keystore: Keystore


@dataclass(eq=False)
class BasicService:
    """A service with the basics as attributes of its own."""

    basics: Basics

    def __post_init__(self) -> None:
        self.session = self.basics.session
        self.clock = self.basics.clock
        self.emitter = self.basics.emitter
        self.hooks = self.basics.hooks
