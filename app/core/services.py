"""The services of one application, found by their class and built when they are first needed.

A feature registers what makes its services, and a service that needs others gets them while it is
made. So the order of the features does not matter, and a service is complete when it is built.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, cast

from .errors import Problem, SetupError

Service = TypeVar("Service")
# The class of the application's context, which is derived from `Services`.
ThisContext = TypeVar("ThisContext")

_ROOT = __name__.partition(".")[0]


class Services(Generic[ThisContext]):
    """The services of one application, each found by its class."""

    def __init__(self) -> None:
        # The services that are built.
        self.services: dict[type[object], Any] = {}
        self._makers: dict[type[object], Callable[[ThisContext], Any]] = {}
        # Services that only pages use: API routes that need them are not mounted.
        self._for_pages: set[type[object]] = set()
        self._unavailable: dict[type[object] | None, type[Problem]] = {}
        # What assembles the features that no one has needed yet, by their package.
        self._features: dict[str, Callable[[ThisContext], object]] = {}
        # The services that are being made, each for the one before it.
        self._making: list[type[object]] = []
        self._lock = RLock()

    def add_feature(self, package: str, assemble: Callable[[ThisContext], object]) -> None:
        """Add a feature to assemble when the first service that its package defines is needed."""
        self._features[f"{_ROOT}.{package}"] = assemble

    def assemble_feature_of(self, module: str) -> None:
        """Assemble the feature that a module is in, unless that was done before."""
        # Another thread may be assembling it.
        with self._lock:
            packages = [each for each in self._features if f"{module}.".startswith(f"{each}.")]
            if packages:
                # The innermost package: `delivery.mail` is a feature within `delivery`.
                assemble = self._features.pop(max(packages, key=len))
                assemble(self._context)

    def assemble_all(self) -> None:
        """Assemble all features, for their contributions to other features."""
        with self._lock:
            for package in list(self._features):
                self.assemble_feature_of(package)

    def provide(
        self,
        kind: type[Service],
        make: Callable[[ThisContext], Service],
        *,
        for_pages: bool = False,
    ) -> None:
        """Register what makes a service, found by its class or a protocol that it implements."""
        if kind in self._makers:
            raise SetupError(f"Two features provide {kind.__name__}.")
        self._makers[kind] = make
        if for_pages:
            self._for_pages.add(kind)

    def add(
        self, service: object, kind: type[object] | None = None, *, for_pages: bool = False
    ) -> None:
        """Add a service that needs no other one."""
        self.provide(kind or type(service), lambda _: service, for_pages=for_pages)

    def mark_unavailable(self, problem: type[Problem], kind: type[object] | None = None) -> None:
        """Set the problem to raise if this service is requested, or any service that is missing."""
        self._unavailable[kind] = problem

    def provides(self, kind: type[object]) -> bool:
        """Return whether the application has the service."""
        if kind not in self._makers:
            self.assemble_feature_of(kind.__module__)
        return kind in self._makers

    def has(self, kind: type[object]) -> bool:
        """Return whether the application has the service, and routes of the API may need it."""
        return self.provides(kind) and kind not in self._for_pages

    def unavailable_reason(self, kind: type[object]) -> type[Problem] | None:
        self.assemble_feature_of(kind.__module__)
        return self._unavailable.get(kind) or self._unavailable.get(None)

    def build(self) -> None:
        """Make the services of all features that are assembled, so that no request waits for it."""
        for kind in list(self._makers):
            self.make(kind)

    def make(self, kind: type[object]) -> object:
        """Make the service, unless it exists; raise the problem that says why it is missing."""
        with self._lock:
            if not self.provides(kind):
                raise self.unavailable_reason(kind) or SetupError(self._missing(kind))
            if kind in self._making:
                chain = " needs ".join(each.__name__ for each in [*self._making, kind])
                raise SetupError(f"Services need each other: {chain}.")
            # Another thread may have made it while this one waited.
            if kind not in self.services:
                self._making.append(kind)
                try:
                    self.services[kind] = self._makers[kind](self._context)
                finally:
                    self._making.pop()
            return self.services[kind]

    def _missing(self, kind: type[object]) -> str:
        needing = f", which {self._making[-1].__name__} needs" if self._making else ""
        return f"This application has no {kind.__name__}{needing}."

    @property
    def _context(self) -> ThisContext:
        return cast(ThisContext, self)
