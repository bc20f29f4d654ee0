"""Frontdesk, the extension: the composition root of one application.

It holds what the host declares (hooks, listeners, schemas) and, for each application it is
initialised with, has a `Desk` laid that knows nothing of any other application.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema

from . import with_accounts
from .accounts.service import DELETED, REGISTERED, Accounts
from .auth.tokens import prepare_signing
from .calling import check_hook
from .cli.groups import COMMANDS, COMMANDS_WITH_ACCOUNTS
from .core.clock import Clock, SystemClock
from .core.desk import EXTENSION, Desk, find_desk
from .core.errors import Problem
from .core.events import Listener
from .core.http.envelope import wrap
from .core.http.problems import problem_response
from .core.transaction import transaction
from .delivery.channel import Handler
from .delivery.engine import Engine
from .delivery.mailer import open_mailer
from .delivery.post import BackgroundPost, Post
from .fitting import (
    check_account_model,
    check_application,
    check_name,
    check_schemas,
    check_settings,
    check_statuses,
)
from .hooks import Claims, Hooks, Payload, Receivers, RecoveryMail, WorkspaceResolver
from .laying import furnish, lay_desk
from .storage import FileStore
from .storage.choice import open_file_store

if TYPE_CHECKING:
    from .notifications.sending import Sent


class Frontdesk:
    def __init__(self) -> None:
        self.hooks = Hooks()
        self._listeners: list[tuple[str, Listener]] = []
        # Weakly: a program that makes many applications, such as a test run, may forget them.
        self._desks: WeakSet[Desk] = WeakSet()

    def init_app(
        self,
        app: Flask,
        db: SQLAlchemy,
        *,
        settings: object | None = None,
        account_model: type[Any] | None = None,
        account_schema: type[Schema] | None = None,
        login_schema: type[Schema] | None = None,
        active_statuses: Sequence[str] | None = None,
        idp_payload_schema: type[Schema] | None = None,
        task_create_schema: type[Schema] | None = None,
        task_update_schema: type[Schema] | None = None,
        clock: Clock | None = None,
        post: Post | None = None,
        file_store: FileStore | None = None,
        engine: Engine | None = None,
        owns_application: bool = False,
    ) -> None:
        check_application(app, db)
        check_settings(settings)
        model = check_account_model(account_model)
        schemas = check_schemas(
            account_schema=account_schema,
            login_schema=login_schema,
            idp_payload_schema=idp_payload_schema,
            task_create_schema=task_create_schema,
            task_update_schema=task_update_schema,
        )
        check_statuses(active_statuses)
        hooks = _replaced(self.hooks, active_statuses=active_statuses, **schemas)
        clock = clock or SystemClock()
        desk = lay_desk(app, db, settings, hooks, self._listeners, clock, owns=owns_application)
        self._desks.add(desk)
        mailer = open_mailer(app, desk.settings)
        files = file_store or open_file_store(desk.settings.profiles, Path(app.instance_path))
        accounts = furnish(desk, model, post or BackgroundPost(mailer, desk.clock.now))
        commands = [*COMMANDS]
        if accounts is not None:
            with_accounts.furnish(desk, accounts, files)
            with app.app_context():
                with_accounts.furnish_notifications(
                    app, desk, db.engine, accounts.model, mailer, engine
                )
            commands += COMMANDS_WITH_ACCOUNTS
        prepare_signing(app, desk.settings.secret_key)
        app.extensions[EXTENSION] = desk
        for group in commands:
            if group.name not in app.cli.commands:
                app.cli.add_command(group)
        # A guard refuses on a host's own views too, and says so in our form; what the host
        # registered for our errors, before or afterwards, is used instead.
        if Problem not in app.error_handler_spec[None][None]:
            app.register_error_handler(Problem, problem_response)
        wrap(app, desk)

    @property
    def accounts(self) -> Accounts:
        """The current application's accounts: to make, find, change and delete them."""
        return find_desk().get(Accounts)

    def transaction(self) -> AbstractContextManager[None]:
        """`with frontdesk.transaction():` commits at its end what is written in it, or nothing."""
        return transaction(find_desk().session)

    def emit(self, event: str, subject: Any) -> int:
        """Tell the current application's listeners, and say how many there were."""
        desk = find_desk()
        return desk.emitter.emit(event, subject, desk.session)

    def on(self, event: str) -> Callable[[Listener], Listener]:
        """Register a listener, `(subject, options)`, for an event by its name."""
        check_name("on", event)

        def register(listener: Listener) -> Listener:
            check_hook("on", listener, f'@frontdesk.on("{event}")')
            self._listeners.append((event, listener))
            for desk in self._desks:
                desk.emitter.on(event, listener)
            return listener

        return register

    def claims(self, hook: Claims) -> Claims:
        """What is merged into the token's claims: `(account, session) -> dict`."""
        check_hook("claims", hook)
        self.hooks.claims.append(hook)
        return hook

    def payload(self, hook: Payload) -> Payload:
        """What the login answers: `(payload, session) -> payload`."""
        check_hook("payload", hook)
        self.hooks.payload.append(hook)
        return hook

    def recovery_mail(self, hook: RecoveryMail) -> RecoveryMail:
        """Sends the recovery mail: `(email_to=, username=, token=, code=)`."""
        check_hook("recovery_mail", hook)
        self._set("recovery_mail", hook)
        return hook

    def workspace_resolver(self, hook: WorkspaceResolver) -> WorkspaceResolver:
        """Finds the slug for guards that name no resolver of their own:
        `(session, account, path_params, headers) -> slug | None`."""
        check_hook("workspace_resolver", hook)
        self._set("workspace_resolver", hook)
        return hook

    def use_workspaces(self) -> None:
        """Give every new account a workspace, and tell of workspaces at login.

        The host's own claims and payload hooks take part as before; those registered later are
        given a payload with the workspaces in it.
        """
        from .workspaces.login import (
            delete_own_workspace,
            make_default_workspace,
            workspace_claims,
            workspace_payload,
        )
        from .workspaces.schemas import WorkspaceLoginRead

        if workspace_claims in self.hooks.claims:
            return
        self.claims(workspace_claims)
        self.payload(workspace_payload)
        self._set("login_schema", self.hooks.login_schema or WorkspaceLoginRead)
        self.on(REGISTERED)(make_default_workspace)
        self.on(DELETED)(delete_own_workspace)

    def receivers(self, hook: Receivers) -> Receivers:
        """Who receives a notification: `(accounts, session) -> accounts or ids`."""
        check_hook("receivers", hook)
        self._set("receivers", hook)
        return hook

    def channel(self, name: str) -> Callable[[Handler], Handler]:
        """Handle a channel of the host's own: `(message, receiver) -> reference or None`."""
        check_name("channel", name)

        def register(handler: Handler) -> Handler:
            check_hook("channel", handler, f'@frontdesk.channel("{name}")')
            self.hooks.channels[name] = handler
            return handler

        return register

    def notify(
        self,
        title: str,
        message: str,
        *,
        channels: Sequence[str] = ("inapp",),
        receivers: Iterable[Any] | None = None,
        sender: Any = None,
        notification_type: str = "system",
        scope: str = "account",
        context: Mapping[str, Any] | None = None,
    ) -> Sent:
        """Send a notification from host code: to these accounts (or ids), or to all.

        It joins the transaction that is open, if one is. `context` goes to the mail's template,
        which its `template_file` names.
        """
        from .notifications.receivers import account_ids
        from .notifications.sending import Draft, Sending

        more = dict(context or {})
        draft = Draft(
            title=title,
            message=message,
            channels=channels,
            notification_type=notification_type,
            scope=scope,
            sender_id=None if sender is None else account_ids([sender])[0],
            template_file=more.pop("template_file", None),
            context=more,
        )
        chosen = None if receivers is None else account_ids(receivers)
        return find_desk().get(Sending).send(draft, chosen)

    def _set(self, name: str, hook: object) -> None:
        """For the applications to come, and for those that are there already."""
        for hooks in (self.hooks, *(desk.hooks for desk in self._desks)):
            setattr(hooks, name, hook)


def _replaced(hooks: Hooks, **given: Any) -> Hooks:
    """A copy, so that what one application is given is not seen by another."""
    return replace(hooks, **{name: value for name, value in given.items() if value is not None})
