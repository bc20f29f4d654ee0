"""Frontdesk, the extension.

It stores the hooks, listeners and events that the developer declares, and creates a separate
`Context` for each application that it is initialized with.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from flask import Flask, has_app_context
from sqlalchemy.orm import Session

from ..accounts.actions import DELETED, REGISTERED
from ..accounts.service import Accounts
from ..cli.groups import lazy_group
from ..console.host_pages import HostConsole
from ..core.actions import Action, Actions, Listener, check_signal
from ..core.clock import Clock
from ..core.context import EXTENSION, ApplicationChoices, Context, find_context
from ..core.db.session import Database
from ..core.db.tables import ApplicationTables
from ..core.db.transaction import transaction
from ..core.errors import Problem, SetupError
from ..core.hooks import Hooks, check_call, check_name
from ..core.types import AnyFunction, Values
from ..core.web.problems import answer_problem
from ..core.web.request_hooks import RequestHooks
from ..delivery.worker.celery import celery_of
from ..delivery.worker.engine import Engine
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
from .options import NO_PARTS, OURS, Parts, Schemas
from .production import check_production
from .recording import Recording
from .signing_in import A, SigningIn

if TYPE_CHECKING:
    from celery import Celery
    from flask import Response
    from marshmallow import Schema

    from ..notifications.receivers import Audience
    from ..notifications.service import SendResult


def _render_page(template: str, **context: Any) -> Response:
    # Imported here, because most processes show no pages.
    from ..console.pages import host_page

    return host_page(template, **context)


class Frontdesk(Recording, SigningIn[A]):
    # The decorators of hooks.
    claims = hooks.claims
    payload = hooks.payload
    may_register = hooks.may_register
    recovery_mail = hooks.recovery_mail
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
        self.console = HostConsole(_render_page)
        self._schemas: dict[str, type[Schema]] = {}
        # Weak references: a program that creates many applications, such as a test run, drops them.
        self._contexts: WeakSet[Context] = WeakSet()

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
        """Initialize Frontdesk for an application, after `db.init_app(app)` and before blueprints.

        `settings` is an object with the settings as attributes; without it they are read from the
        environment. `schemas` and `parts` replace Frontdesk's.
        """
        check_application(app, db)
        check_settings(settings)
        account_model = check_account_model(account_model, db)
        context = make_context(
            app,
            db,
            settings,
            self.hooks.copy(),
            self._make_actions,
            ApplicationTables(
                metadata_of(db, account_model),
                account_model,
                id_kind(account_model),
                owns_application,
            ),
            ApplicationChoices(
                {**self._schemas, **check_schemas(schemas)}, parts._asdict(), owns_application
            ),
        )
        self._contexts.add(context)
        context.add(self.console)
        assemble(context)
        app.extensions[EXTENSION] = context
        for name in context.contributions.commands:
            if name not in app.cli.commands:
                app.cli.add_command(lazy_group(name))
        # Decorators on the application's own views raise problems too. A handler that the
        # application registers, before or after, replaces this one.
        if Problem not in app.error_handler_spec[None][None]:
            app.register_error_handler(Problem, answer_problem)
        RequestHooks(app, context)
        check_production(context)

    @property
    def accounts(self) -> Accounts[A]:
        """The current application's accounts: create, find, change and delete them."""
        return cast("Accounts[A]", find_context().get(Accounts))

    def transaction(self) -> AbstractContextManager[Session]:
        """Return a context manager that commits at its end, or rolls back."""
        return transaction(find_context().session)

    @property
    def celery(self) -> Celery:
        """The Celery application for `celery -A worker:celery worker`.

        It belongs to the current application, or to the only application.
        """
        contexts = [find_context()] if has_app_context() else list(self._contexts)
        if len(contexts) != 1:
            raise SetupError(
                "frontdesk.celery needs exactly one application: create one, or use an app context."
            )
        return celery_of(contexts[0].app)

    def start_deliveries(self, app: Flask) -> None:
        """Send queued messages in this process from now on, instead of from its first request.

        Call it in a process that serves requests, after the server has forked it.
        """
        engine: Engine | None = app.extensions[EXTENSION].services.get(Engine)
        if engine is not None:
            engine.start()

    def event(self, name: str) -> str:
        """Declare an event of the application, so that it can be emitted and listened to."""
        self._events.add(name)
        for context in self._contexts:
            context.actions.declare(name)
        return name

    def emit(self, event: str, subject: Any) -> int:
        """Notify the current application's listeners, and return how many there were."""
        context = find_context()
        return context.actions.emit(event, subject, context.session)

    def on(self, event: str) -> Callable[[Listener], Listener]:
        """Register a listener, `(subject, options)`, for an event by its name."""
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
        """Register a hook for the existing applications and later ones."""
        for each in (self.hooks, *(context.hooks for context in self._contexts)):
            each.add(hook, function, name)

    def use_workspaces(self) -> None:
        """Create a workspace for every new account, and add workspaces to the login response.

        The application's claims and payload hooks are called as before; payload hooks that are
        registered later receive the workspaces in the payload.
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

    def notify(
        self,
        title: str,
        message: str,
        *,
        channels: Sequence[str] = ("inapp",),
        receivers: Audience | Iterable[Any] | None = None,
        sender: Any = None,
        notification_type: str = "system",
        scope: str = "account",
        context: Values | None = None,
    ) -> SendResult:
        """Send a notification to these accounts (or ids), to an audience, or to all accounts.

        It joins an open transaction. `context` has the variables of the email's template, which its
        `template_file` names.
        """
        from ..notifications.receivers import account_ids
        from ..notifications.service import Draft, Notifications

        variables = dict(context or {})
        draft = Draft.validate(
            title=title,
            message=message,
            channels=channels,
            notification_type=notification_type,
            scope=scope,
            sender_id=None if sender is None else account_ids([sender])[0],
            template_file=variables.pop("template_file", None),
            context=variables,
        )
        return find_context().get(Notifications).send(draft, receivers)

    def _make_actions(self, clock: Clock, audits: bool) -> Actions:
        # A view that includes types that the application declares later.
        catalogue = ChainMap(self._record_types, cast("dict[str, Action]", ACTIONS))
        actions = Actions(clock, catalogue, self._events, audits)
        for event, listener in self._listeners:
            actions.on(event, listener)
        return actions
