"""What one application has: its settings, session, keystore, emitter and services.

`Frontdesk.init_app` makes one for each application; routes and decorators reach it as
`current_desk`, and a service by its class, so that nothing below the extension imports it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flask import current_app
from werkzeug.local import LocalProxy

from .clock import Clock
from .errors import Problem, SetupError
from .events import Emitter
from .keystore import Keystore
from .settings import Namespaces
from .transaction import AnySession

if TYPE_CHECKING:
    from ..hooks import Hooks

EXTENSION = "frontdesk"

Service = TypeVar("Service")


# By identity: a desk is one application's, and is kept in sets.
@dataclass(eq=False)
class Desk:
    settings: Namespaces
    session: AnySession
    hooks: Hooks
    emitter: Emitter
    keystore: Keystore
    clock: Clock
    # The service answers for every path of its application; a host only lends us some.
    owns_application: bool = False
    services: dict[type[Any], Any] = field(default_factory=dict)
    blueprints: set[str] = field(default_factory=set)
    # Why some services are not here, as the error that a request for one of them ends with.
    lacking: type[Problem] | None = None

    def add(self, service: object) -> None:
        self.services[type(service)] = service

    def get(self, service: type[Service]) -> Service:
        found = self.services.get(service)
        if found is not None:
            return cast(Service, found)
        if self.lacking is not None:
            raise self.lacking
        raise RuntimeError(f"This application has no {service.__name__}.")


def find_desk() -> Desk:
    desk = current_app.extensions.get(EXTENSION)
    if not isinstance(desk, Desk):
        raise SetupError(
            "This application has no Frontdesk: call frontdesk.init_app(app, db) when it is made."
        )
    return desk


current_desk = cast(Desk, LocalProxy(find_desk))


def service(kind: type[Service]) -> Service:
    return find_desk().get(kind)
