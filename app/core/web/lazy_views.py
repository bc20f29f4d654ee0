"""Views that their first request imports, because most processes serve few of them."""

from functools import cached_property
from importlib import import_module
from typing import Any

from .operation import Operation, View, operation


class LazyView:
    def __init__(self, reference: str, package: str) -> None:
        """`reference`: a module of the package and a function, such as `owner.inbox.dashboard`."""
        self.module, _, self.__name__ = reference.rpartition(".")
        self.package = package

    def __call__(self, *args: object, **values: object) -> Any:
        return self.view(*args, **values)

    @cached_property
    def view(self) -> View:
        found: View = getattr(import_module(f".{self.module}", self.package), self.__name__)
        return found

    @property
    def _frontdesk_operation(self) -> Operation:
        """The operation of the view, for tests and for documentation."""
        return operation(self.view)


def loaded(view: View) -> View:
    """Return the view, which is imported if it is lazy."""
    return view.view if isinstance(view, LazyView) else view
