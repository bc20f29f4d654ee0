"""The state of one application: its settings, session, shared state store, actions and services.

`Frontdesk.init_app` creates a `Context` for each application, and the `assemble(context)` of each
package adds its services. Routes and decorators use `current_frontdesk`, or `service(Class)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from flask import Flask, current_app
from werkzeug.local import LocalProxy

from .actions import Action, Actions, Target
from .clock import Clock
from .config.settings import LoadedSettings
from .db.accounts_table import AccountsTable
from .db.session import Database
from .db.tables import ApplicationTables
from .db.transaction import AnySession
from .errors import SetupError
from .hooks import Hooks
from .keystore import Keystore
from .services import Service, Services
from .types import AccountKey, Values

if TYPE_CHECKING:
    from marshmallow import Schema
    from sqlalchemy import Connection, Engine, MetaData

    from .replica import Replica

EXTENSION = "frontdesk"

_current_app: Any = current_app

Contribution = TypeVar("Contribution")


@dataclass(frozen=True)
class Basics:
    """What nearly every service of an application needs."""

    session: AnySession
    clock: Clock
    hooks: Hooks
    keystore: Keystore


@dataclass(eq=False)
class BasicService:
    basics: Basics

    def __post_init__(self) -> None:
        self.session = self.basics.session
        self.clock = self.basics.clock
        self.hooks = self.basics.hooks


class Pruner(NamedTuple):
    """Deletes expired data in `flask frontdesk prune`."""

    # In the report of the command.
    name: str
    # Returns the number of deleted rows or files.
    prune: Callable[[], int]


class DoctorChecks(NamedTuple):
    """The checks of a feature for `flask frontdesk doctor`."""

    # The name of a module with a sequence of `Check`s, `CHECKS`, imported when the doctor runs.
    module: str


class WhenServing(NamedTuple):
    """Called when a server's worker process starts to serve."""

    begin: Callable[[], object]


@dataclass
class MountedBlueprints:
    # The names in Frontdesk.
    names: set[str] = field(default_factory=set)
    # The names in Flask, which an application can change.
    blueprints: set[str] = field(default_factory=set)
    # The names in Flask of blueprints with pages, which always accept a session cookie.
    pages: set[str] = field(default_factory=set)


class Databases(NamedTuple):
    # The application's SQLAlchemy extension.
    db: Database
    # Not `db.engine`, which a test can replace for its duration.
    engine: Engine
    # The replica that lists are read from, if there is one.
    replica: Replica | None


class ApplicationChoices(NamedTuple):
    """Parts that the application replaces."""

    # Schemas by name, see `Schemas` in extension/options.py.
    schemas: dict[str, type[Schema]]
    # Replaced components by name, see `Parts` in extension/options.py.
    parts: Values
    # True for the service: all paths and responses of the application are Frontdesk's.
    owns_application: bool


# Compared by identity, because contexts are stored in sets.
@dataclass(eq=False)
class Context(Services["Context"]):
    app: Flask
    databases: Databases
    settings: LoadedSettings
    basics: Basics
    actions: Actions
    tables: ApplicationTables
    choices: ApplicationChoices

    def __post_init__(self) -> None:
        super().__init__()
        self._contributions: defaultdict[type[object], list[Any]] = defaultdict(list)
        self.mounted = MountedBlueprints()
        self.db, self.engine, self.replica = self.databases
        self.session, self.clock = self.basics.session, self.basics.clock
        self.hooks, self.keystore = self.basics.hooks, self.basics.keystore
        self.schemas, self.parts, self.owns_application = self.choices

    def get(self, kind: type[Service]) -> Service:
        """Return the service; raise the problem that says why it is missing."""
        found = self.services.get(kind)
        return cast(Service, self.make(kind) if found is None else found)

    def contribute(self, *contributions: object) -> None:
        """Add what one feature brings for another, which declares the type of the contribution."""
        for each in contributions:
            self._contributions[type(each)].append(each)

    def contributions(self, kind: type[Contribution]) -> Sequence[Contribution]:
        """Return the contributions of the features that are assembled, and of those that will be:
        they are added to the result."""
        return self._contributions[kind]

    def all_contributions(self, kind: type[Contribution]) -> Sequence[Contribution]:
        """Return the contributions of all features, also of those that were not needed before."""
        self.assemble_all()
        return self._contributions[kind]

    @property
    def metadata(self) -> MetaData:
        """For `env.py` of migrations, including those of applications."""
        return self.tables.metadata

    @property
    def when_serving(self) -> list[Callable[[], object]]:
        """For gunicorn.conf.py, including copies that operators have changed."""
        return [each.begin for each in self.contributions(WhenServing)]

    @property
    def accounts_in_migrations(self) -> AccountsTable:
        """For the published migrations."""
        return AccountsTable.of(self.tables.accounts)

    def change_search_indexes(self, connection: Connection, *, create: bool) -> None:
        """Create or drop the indexes of the search, for the published migrations: an application's
        own table of accounts is not changed."""
        from .db.search_indexes import create_search_indexes, drop_search_indexes

        model = self.tables.account_model if self.owns_application else None
        change = create_search_indexes if create else drop_search_indexes
        change(connection, self.metadata, model)


def find_context() -> Context:
    # The application behind Flask's proxy, see `unwrap_request`.
    context = _current_app._get_current_object().extensions.get(EXTENSION)
    if not isinstance(context, Context):
        raise SetupError(
            "Frontdesk is not initialized for this application: call frontdesk.init_app(app, db)."
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
    account_id: AccountKey | None = None,
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
