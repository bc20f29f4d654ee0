"""What one application has: its settings, session, keystore, actions and services.

`Frontdesk.init_app` makes one for each application and has every slice put its part in
(`assemble(context)` in the slice's `assembly.py`); routes and decorators reach it as
`current_frontdesk`, and a service by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flask import Flask, current_app
from werkzeug.local import LocalProxy

from .actions import Action, Actions, Target
from .basics import Basics
from .clock import Clock
from .config.settings import LoadedSettings
from .data_export import Exporter
from .db.account_ids import WHOLE, IdKind
from .db.session import Database
from .db.tables import bring_table
from .db.transaction import AnySession
from .errors import Problem, SetupError
from .hooks import Hooks
from .keystore import Keystore

if TYPE_CHECKING:
    from marshmallow import Schema
    from sqlalchemy import MetaData, Table

    from .db.accounts_table import AccountsTable
    from .web.operation import WayIn

EXTENSION = "frontdesk"

_current_app: Any = current_app

Service = TypeVar("Service")
# Removes what was set up for an account since a moment, or all of it.
Reclaimer = Callable[[AnySession, Any, datetime | None], object]


# By identity: a context is one application's, and is kept in sets.
@dataclass(eq=False)
class Context:
    app: Flask
    db: Database
    settings: LoadedSettings
    # The host's, in which its tables and ours are.
    metadata: MetaData
    session: AnySession
    hooks: Hooks
    actions: Actions
    keystore: Keystore
    clock: Clock
    # The host's class of an account; None where it has none to give.
    account_model: type[Any] | None = None
    # The kind of their ids.
    account_ids: IdKind = WHOLE
    # The host's schemas in the place of ours, by name.
    schemas: dict[str, type[Schema]] = field(default_factory=dict)
    # What a host or a test puts in the place of what an assembly would make.
    parts: Mapping[str, Any] = field(default_factory=dict)
    # The service answers for every path of its application; a host only lends us some.
    owns_application: bool = False
    services: dict[type[Any], Any] = field(default_factory=dict)
    # What each package adds to the data export of an account.
    exporters: list[Exporter] = field(default_factory=list)
    # What else an account loses that is reclaimed by the owner of its email address.
    reclaimers: list[Reclaimer] = field(default_factory=list)
    # What `flask frontdesk prune` deletes, by the name in its report; each returns a count.
    pruners: dict[str, Callable[[], int]] = field(default_factory=dict)
    # The groups of commands that the slices add.
    commands: list[str] = field(default_factory=list)
    # Kinds of credentials that guards take beside the bearer token.
    ways_in: list[WayIn] = field(default_factory=list)
    # Our blueprints that are mounted, by the names that Flask has for them and by their own.
    blueprints: set[str] = field(default_factory=set)
    mounted: set[str] = field(default_factory=set)
    # Those of pages, which take a cookie also where no other route does; as Flask names them.
    pages: set[str] = field(default_factory=set)
    # Services for pages alone: the API has no routes that need them.
    for_pages: set[type[Any]] = field(default_factory=set)
    # What a worker of the server's begins with, beside its requests.
    when_serving: list[Callable[[], object]] = field(default_factory=list)
    _lacking: dict[type[Any] | None, type[Problem]] = field(default_factory=dict)

    @cached_property
    def basics(self) -> Basics:
        return Basics(self.session, self.clock, self.hooks, self.keystore)

    @property
    def accounts(self) -> Table | None:
        """The host's table of accounts."""
        return None if self.account_model is None else self.account_model.__table__

    @property
    def accounts_in_migrations(self) -> AccountsTable:
        """What our migrations ask: they know whose accounts are meant no sooner than that."""
        from .db.accounts_table import AccountsTable

        return AccountsTable.of(self.accounts)

    def bring(self, model: Any) -> None:
        """A table that only some applications have, into the host's metadata."""
        bring_table(model.__table__, self.metadata, self.accounts)

    def add(
        self, service: object, kind: type[Any] | None = None, *, for_pages: bool = False
    ) -> None:
        """Found by its class, or by the protocol that it fulfils."""
        self.services[kind or type(service)] = service
        if for_pages:
            self.for_pages.add(kind or type(service))

    def lack(self, problem: type[Problem], kind: type[Any] | None = None) -> None:
        """Say why a service is not here; without its kind: why those are not of which nothing is
        said. A request that needs one is answered with the problem."""
        self._lacking[kind] = problem

    def has(self, kind: type[Any]) -> bool:
        """Return whether routes of the API may need the service."""
        return kind in self.services and kind not in self.for_pages

    def find(self, kind: type[Service]) -> Service | None:
        """Return the service, or None if the application does not have it."""
        found: Service | None = self.services.get(kind)
        return found

    def why_not(self, kind: type[Any]) -> type[Problem] | None:
        return self._lacking.get(kind) or self._lacking.get(None)

    def get(self, kind: type[Service]) -> Service:
        found = self.services.get(kind)
        if found is not None:
            return cast(Service, found)
        problem = self.why_not(kind)
        if problem is not None:
            raise problem
        raise RuntimeError(f"This application has no {kind.__name__}.")


def find_context() -> Context:
    # The application behind Flask's proxy, as in `request_itself`.
    context = _current_app._get_current_object().extensions.get(EXTENSION)
    if not isinstance(context, Context):
        raise SetupError(
            "This application has no Frontdesk: call frontdesk.init_app(app, db) when it is made."
        )
    return context


current_frontdesk = cast(Context, LocalProxy(find_context))


def service(kind: type[Service]) -> Service:
    return find_context().get(kind)


def done(
    session: AnySession,
    action: Action,
    subject: Any = None,
    *,
    account_id: Any = None,
    workspace_id: Any = None,
    target: Target | None = None,
    **data: Any,
) -> int:
    """Report an action in its open transaction, and return the number of the signal's listeners.

    Listeners are called at once with the subject. The audit log entry is written with the
    transaction, the security log entry after the commit. `account_id` is the affected account,
    by default the acting account. `data` can have `before` and `after`, mappings of what changes.
    """
    actions = find_context().actions
    return actions.done(session, action, subject, account_id, workspace_id, target, data)
