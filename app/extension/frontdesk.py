"""Frontdesk, the extension.

It stores the hooks, listeners and events that the developer declares, and creates a separate
`Context` for each application that it is initialized with.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from flask import Flask, has_app_context
from sqlalchemy.orm import Session

from ..accounts.actions import DELETED, REGISTERED
from ..accounts.service import Accounts
from ..auth.scopes import SCOPES, add_scopes, check_declared, scope
from ..core.actions import Action, Actions, Listener, check_signal
from ..core.clock import Clock
from ..core.context import EXTENSION, ApplicationChoices, Context, find_context
from ..core.db.session import Database
from ..core.db.tables import ApplicationTables
from ..core.db.transaction import transaction
from ..core.errors import Problem, SetupError
from ..core.hooks import Hooks, check_call, check_name
from ..core.process.collector import paused_collector
from ..core.types import AnyFunction
from ..core.web.operation import ViewDecorator
from ..core.web.problems import answer_problem
from ..core.web.request_hooks import RequestHooks
from ..delivery.start import DeliveryStart
from ..notifications.kinds import BUILT_IN, NotificationKinds
from ..notifications.settings import NotificationsSettings
from . import hooks
from .actions import ACTIONS, SIGNALS
from .assembly import assemble, make_context
from .checks import (
    check_account_model,
    check_application,
    check_schemas,
    check_settings,
    id_kind,
    metadata_of,
)
from .console_pages import HostConsole
from .notifying import Notifying
from .options import NO_PARTS, OURS, Parts, Schemas
from .production import check_production
from .recording import Recording
from .signing_in import A, SigningIn
from .tables import import_models

if TYPE_CHECKING:
    from celery import Celery
    from marshmallow import Schema


class Extension(Notifying, Recording, SigningIn[A]):
    """What `Frontdesk` is made of, without its command line, which stands above this package."""

    # The decorators of hooks.
    claims = hooks.claims
    payload = hooks.payload
    provider_claims = hooks.provider_claims
    may_register = hooks.may_register
    recovery_mail = hooks.recovery_mail
    authenticate = hooks.authenticate
    workspace_resolver = hooks.workspace_resolver
    receivers = hooks.receivers
    channel = hooks.channel
    exporter = hooks.exporter
    eraser = hooks.eraser

    def __init__(self) -> None:
        super().__init__()
        self.hooks = Hooks(hooks.HOOKS)
        self._events = set(SIGNALS)
        self._listeners: list[tuple[str, Listener]] = []
        # The application's own pages in the console.
        self.console = HostConsole()
        self._schemas: dict[str, type[Schema]] = {}
        # Shared by all applications of this extension, so a scope can be declared later.
        self._scopes: dict[str, str] = {}
        # Weak references: a program that creates many applications, such as a test run, drops them.
        self._contexts: WeakSet[Context] = WeakSet()

    @paused_collector()
    def init_app(
        self,
        app: Flask,
        db: Database,
        *,
        settings: object | None = None,
        account_model: type[A] | None = None,
        schemas: Schemas = OURS,
        parts: Parts = NO_PARTS,
        owns_application: bool = False,
    ) -> None:
        """Initialize an application: after `db.init_app(app)` and before its blueprints.

        Args:
            app: The Flask application.
            db: The application's SQLAlchemy extension (Flask-SQLAlchemy or Flask-SQLAlchemy-Lite).
            settings: An object with the settings as attributes. Default: the environment's.
            account_model: The mapped class of accounts, with `AccountMixin`.
            schemas: Schemas that replace Frontdesk's schemas.
            parts: Parts that replace Frontdesk's parts, such as the clock or the file storage.
            owns_application: Whether Frontdesk also handles errors of paths outside its blueprints.

        Raises:
            SetupError: The arguments cannot be used; the message says how to fix them.
            SettingsError: A setting has an invalid value; the message names the variable.

        Example::

            frontdesk.init_app(app, db, settings=settings, account_model=Account)
        """
        check_application(app, db)
        check_settings(settings)
        account_model = check_account_model(account_model, db)
        metadata = metadata_of(db, account_model)
        context = make_context(
            app,
            db,
            settings,
            self.hooks.copy(),
            self._make_actions,
            ApplicationTables(
                metadata, account_model, id_kind(account_model), owns_application, import_models
            ),
            ApplicationChoices(
                {**self._schemas, **check_schemas(schemas, account_model)},
                parts._asdict(),
                owns_application,
            ),
        )
        self._contexts.add(context)
        self._add_own(context)
        assemble(context)
        app.extensions[EXTENSION] = context
        self._add_commands(context)
        # Decorators on the application's own views raise problems too. A handler that the
        # application registers, before or after, replaces this one.
        if Problem not in app.error_handler_spec[None][None]:
            app.register_error_handler(Problem, answer_problem)
        RequestHooks(app, context)
        check_production(context)

    def _add_commands(self, context: Context) -> None:
        """Add the command groups to the application."""

    @property
    def accounts(self) -> Accounts[A]:
        """The accounts of the current application: create, find, change and delete accounts.

        Example::

            account = frontdesk.accounts.find("ada@example.com")
        """
        return cast("Accounts[A]", find_context().get(Accounts))

    def transaction(self) -> AbstractContextManager[Session]:
        """Return a context manager that commits at its end, and rolls back on an exception.

        Returns:
            A context manager that yields the session.

        Example::

            with frontdesk.transaction() as session:
                session.add(note)
                frontdesk.notify("Note pinned", note.text, receivers=[account])
        """
        return transaction(find_context().session)

    @property
    def celery(self) -> Celery:
        """The Celery application that runs background jobs.

        It belongs to the current application, or to the only application of the process. Start a
        worker with `celery -A worker:celery worker`.

        Raises:
            SetupError: There are several applications and no current one.

        Example::

            create_app()
            celery = frontdesk.celery
        """
        contexts = [find_context()] if has_app_context() else list(self._contexts)
        if len(contexts) != 1:
            raise SetupError(
                "frontdesk.celery needs exactly one application: create one, or use an app context."
            )
        # Imported here, because few applications deliver by Celery.
        from ..delivery.worker.celery import celery_of

        return celery_of(contexts[0].app)

    def start_deliveries(self, app: Flask) -> None:
        """Start to send queued messages in this process, before its first request.

        Call it in a process that serves requests, after the server has forked it.

        Args:
            app: The initialized application.

        Example::

            def post_worker_init(worker):
                frontdesk.start_deliveries(app)
        """
        context: Context = app.extensions[EXTENSION]
        if context.provides(DeliveryStart):
            context.get(DeliveryStart).start()

    def event(self, name: str) -> str:
        """Declare an event of your application, which can then be emitted and listened to.

        Args:
            name: Name of the event, such as `note-pinned`.

        Returns:
            The name.

        Example::

            NOTE_PINNED = frontdesk.event("note-pinned")
        """
        self._events.add(name)
        for context in self._contexts:
            context.actions.declare(name)
        return name

    def emit(self, event: str, subject: Any) -> int:
        """Emit an event to the listeners of the current application.

        Args:
            event: Name of a declared event.
            subject: The object that the event is about; the listeners' first argument.

        Returns:
            The number of listeners that were called.

        Example::

            frontdesk.emit("note-pinned", note)
        """
        context = find_context()
        return context.actions.emit(event, subject, context.session)

    def on(self, event: str) -> Callable[[Listener], Listener]:
        """Return a decorator that registers a listener for an event.

        A listener is called with the subject and a mapping of options, with `session` and
        `origin`. It runs in the transaction of the request; an exception rolls the transaction
        back.

        Args:
            event: Name of an event of Frontdesk or of your application.

        Returns:
            The decorator.

        Raises:
            SetupError: The event does not exist, or the listener has another signature.

        Example::

            @frontdesk.on("account-registered")
            def welcome(account, options):
                options["session"].add(Greeting(account_id=account.id))
        """
        check_name("on", event)
        check_signal(event, self._events)

        def register(listener: Listener) -> Listener:
            check_call(listener, ("subject", "options"), f'@frontdesk.on("{event}")')
            self._listeners.append((event, listener))
            for context in self._contexts:
                context.actions.on(event, listener)
            return listener

        return register

    def add_hook(self, hook: str, function: AnyFunction, name: str | None = None) -> None:
        """Register a function for a hook, as the hook's decorator does.

        The hook applies to applications that are already initialized and to later ones, except
        `authenticate`, which is registered before `init_app`.

        Args:
            hook: Name of the hook, such as `claims`.
            function: The function.
            name: Name of the channel or exporter, for hooks that have one function for each name.

        Example::

            frontdesk.add_hook("channel", send_to_slack, "slack")
        """
        if hooks.HOOKS[hook].at_start:
            self._check_at_start(hook)
        for each in (self.hooks, *(context.hooks for context in self._contexts)):
            each.add(hook, function, name)

    def _check_at_start(self, hook: str) -> None:
        if self.hooks.registered(hook):
            raise SetupError(f"@frontdesk.{hook} takes one function, and is used a second time.")
        if self._contexts:
            raise SetupError(
                f"@frontdesk.{hook} is used after frontdesk.init_app(app, db), where it has no"
                " effect: register the function before."
            )

    def scope(self, name: str, description: str, *, workspace: bool = True) -> ViewDecorator:
        """Declare a scope of your application, for tokens of programs.

        Args:
            name: Name of the scope, such as `orders:read`.
            description: What a token with the scope may do, for users who create tokens.
            workspace: False also accepts tokens of one workspace at a route outside of workspaces.

        Returns:
            The decorator of views, the same as `scope(name)` of this package.

        Raises:
            SetupError: The name is malformed, or it is a scope of Frontdesk.

        Example::

            orders_read = frontdesk.scope("orders:read", "Read orders")

            @app.get("/orders")
            @active_account_required
            @orders_read
            def list_orders(): ...
        """
        check_declared(name, description, SCOPES)
        self._scopes[name] = description
        return scope(name, workspace=workspace)

    def use_workspaces(self) -> None:
        """Create a default workspace for each new account, and return workspaces with each sign-in.

        The login response then has `workspaces` and `current_workspace_id`, and access tokens have
        the claims `user_id` and `workspace_id`. Call it before you register claims and payload
        hooks that read the workspaces.

        Example::

            frontdesk = Frontdesk[Account]()
            frontdesk.use_workspaces()
        """
        from ..core.web.request_data import choose_schemas_again
        from ..workspaces.login import (
            delete_own_workspace,
            make_default_workspace,
            workspace_claims,
            workspace_payload,
        )
        from ..workspaces.schemas import WorkspaceLoginRead

        if workspace_claims in self.hooks.registered("claims"):
            return
        self.claims(workspace_claims)
        self.payload(workspace_payload)
        for schemas in (self._schemas, *(context.schemas for context in self._contexts)):
            schemas.setdefault("login", WorkspaceLoginRead)
        for context in self._contexts:
            choose_schemas_again(context.app)
        self.on(REGISTERED.name)(make_default_workspace)
        self.on(DELETED.name)(delete_own_workspace)

    def _add_own(self, context: Context) -> None:
        """Add what this object declares, now and later."""
        context.add(self.console)
        configured = context.settings.of(NotificationsSettings).KINDS
        context.add(NotificationKinds(BUILT_IN, self._kinds, configured))
        add_scopes(context, ChainMap(self._scopes, cast("dict[str, str]", SCOPES)))

    def _make_actions(self, clock: Clock, audits: bool) -> Actions:
        # A view that includes types that the application declares later.
        catalogue = ChainMap(self._record_types, cast("dict[str, Action]", ACTIONS))
        actions = Actions(clock, catalogue, self._events, audits)
        for event, listener in self._listeners:
            actions.on(event, listener)
        return actions
