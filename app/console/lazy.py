"""Views that are loaded when they are first asked for: the pages are many, and most processes show
few of them."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

from ..core.web.operation import Operation, View, operation


class LazyView:
    def __init__(self, reference: str) -> None:
        """`owner.inbox.dashboard`: a module of this room, and a function in it."""
        self.module, _, self.__name__ = reference.rpartition(".")

    def __call__(self, *args: Any, **values: Any) -> Any:
        return self.view(*args, **values)

    @cached_property
    def view(self) -> View:
        found: View = getattr(import_module(f".{self.module}", __package__), self.__name__)
        return found

    @property
    def _frontdesk_operation(self) -> Operation:
        """What tests and documents ask of every view."""
        return operation(self.view)
