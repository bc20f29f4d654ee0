"""What one application has: its settings, session, keystore, actions and services.

`Frontdesk.init_app` makes one for each application and has every slice put its part in
(`assemble(context)` in the slice's `assembly.py`); routes and decorators reach it as
`current_frontdesk`, and a service by its class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from flask import Flask, current_app
from werkzeug.local import LocalProxy

from .actions import Action, Actions, Target
from .clock import Clock
from .config.settings import LoadedSettings
from .data_export import Exporter
from .db.accounts_table import AccountsTable
from .db.session import Database
from .db.tables import ApplicationTables
from .db.transaction import AnySession
from .errors import Problem, SetupError
from .hooks import Hooks
from .keystore import Keystore
from .types import AccountKey, Values

if TYPE_CHECKING:
    from marshmallow import Schema
    from sqlalchemy import MetaData

    from .web.operation import AuthScheme

EXTENSION = "frontdesk"

_current_app: Any = current_app

Service = TypeVar("Service")
# Removes what was set up for an account since a moment, or all of it.
Reclaimer = Callable[[AnySession, Any, datetime | None], object]


@dataclass(frozen=True)
class Basics:
    """What nearly every service of an application needs."""

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


class Services:
    """The services of one application, each found by its class."""

    def __init__(self) -> None:
        self.services: dict[type[Any], Any] = {}
        # Those for pages alone: the API has no routes that need them.
        self._for_pages: set[type[Any]] = set()
        self._unavailable: dict[type[Any] | None, type[Problem]] = {}

    def add(
        self, service: object, kind: type[Any] | None = None, *, for_pages: bool = False
    ) -> None:
        """Add a service, found by its class or by the protocol that it fulfils."""
        self.services[kind or type(service)] = service
        if for_pages:
            self._for_pages.add(kind or type(service))

    def mark_unavailable(self, problem: type[Problem], kind: type[Any] | None = None) -> None:
        """Set the problem of a request that needs this service, or any that is missing."""
        self._unavailable[kind] = problem

    def has(self, kind: type[Any]) -> bool:
        """Return whether routes of the API may need the service."""
        return kind in self.services and kind not in self._for_pages

    def find(self, kind: type[Service]) -> Service | None:
        """Return the service, or None if the application does not have it."""
        found: Service | None = self.services.get(kind)
        return found

    def unavailable_reason(self, kind: type[Any]) -> type[Problem] | None:
        return self._unavailable.get(kind) or self._unavailable.get(None)

    def get(self, kind: type[Service]) -> Service:
        """Return the service. Raises the problem that says why it is missing."""
        found = self.services.get(kind)
        if found is not None:
            return cast(Service, found)
        problem = self.unavailable_reason(kind)
        if problem is not None:
            raise problem
        raise RuntimeError(f"This application has no {kind.__name__}.")


@dataclass
class Contributions:
    """What packages add to what other packages do."""

    # To the data export of an account.
    exporters: list[Exporter] = field(default_factory=list)
    # To what an account loses that is reclaimed by the owner of its email address.
    reclaimers: list[Reclaimer] = field(default_factory=list)
    # To `flask frontdesk prune`, by the name in its report; each returns a count.
    pruners: dict[str, Callable[[], int]] = field(default_factory=dict)
    # To the command line: groups of commands.
    commands: list[str] = field(default_factory=list)
    # To the OpenAPI document: kinds of credentials next to the bearer token.
    auth_schemes: list[AuthScheme] = field(default_factory=list)
    # To what a worker of the server's begins with, next to its requests.
    when_serving: list[Callable[[], object]] = field(default_factory=list)


@dataclass
class MountedBlueprints:
    """Our blueprints on this application."""

    # By their own names.
    names: set[str] = field(default_factory=set)
    # By the names that Flask has for them.
    blueprints: set[str] = field(default_factory=set)
    # Those of pages, which take a cookie also where no other route does; as Flask names them.
    pages: set[str] = field(default_factory=set)


class ApplicationChoices(NamedTuple):
    """Parts that the application replaces."""

    # Its schemas, by name.
    schemas: dict[str, type[Schema]]
    # What an assembly would make: `Parts`, by name.
    parts: Values
    # The service answers for every path of its application; other applications lend us some.
    owns_application: bool


# By identity: a context is one application's, and is kept in sets.
@dataclass(eq=False)
class Context(Services):
    app: Flask
    db: Database
    settings: LoadedSettings
    basics: Basics
    actions: Actions
    tables: ApplicationTables
    choices: ApplicationChoices

    def __post_init__(self) -> None:
        super().__init__()
        self.contributions = Contributions()
        self.mounted = MountedBlueprints()
        self.session, self.clock = self.basics.session, self.basics.clock
        self.hooks, self.keystore = self.basics.hooks, self.basics.keystore
        self.schemas, self.parts, self.owns_application = self.choices

    @property
    def metadata(self) -> MetaData:
        """What the environments of migrations ask, also those of applications."""
        return self.tables.metadata

    @property
    def when_serving(self) -> list[Callable[[], object]]:
        """What gunicorn.conf.py asks, also copies of it that operators have."""
        return self.contributions.when_serving

    @property
    def accounts_in_migrations(self) -> AccountsTable:
        """What our published migrations ask."""
        return AccountsTable.of(self.tables.accounts)


def find_context() -> Context:
    # The application behind Flask's proxy, as in `unwrap_request`.
    context = _current_app._get_current_object().extensions.get(EXTENSION)
    if not isinstance(context, Context):
        raise SetupError(
            "This application has no Frontdesk: call frontdesk.init_app(app, db) when it is made."
        )
    return context


current_frontdesk = cast(Context, LocalProxy(find_context))


def service(kind: type[Service]) -> Service:
    return find_context().get(kind)


def report_action(
    session: AnySession,
    action: Action,
    subject: object = None,
    *,
    account_id: AccountKey = None,
    workspace_id: object = None,
    target: Target | None = None,
    **data: object,
) -> int:
    """Report an action in its open transaction, and return the number of the signal's listeners.

    Listeners are called at once with the subject. The audit log entry is written with the
    transaction, the security log entry after the commit. `account_id` is the affected account,
    by default the acting account. `data` can have `before` and `after`, mappings of what changes.
    """
    actions = find_context().actions
    return actions.report(session, action, subject, account_id, workspace_id, target, data)
