"""Frontdesk, the extension: the composition root of one application.

It holds what the host declares (hooks, listeners, schemas) and, for each application it is
initialised with, lays the `Desk`: settings, keystore, emitter and services, which know nothing of
any other application.
"""

from __future__ import annotations

import logging
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
from .accounts.errors import AccountModelMissing
from .accounts.passwords import Passwords
from .accounts.service import DELETED, REGISTERED, Accounts
from .auth.house import furnish as furnish_auth
from .auth.tokens import prepare_signing
from .cli.accounts import group as accounts_commands
from .cli.prune import group as frontdesk_commands
from .core.clock import Clock, SystemClock
from .core.database import FollowingSession, prepare_sqlite, refer_to_accounts
from .core.desk import EXTENSION, Desk, find_desk
from .core.errors import Problem
from .core.events import Emitter, Listener
from .core.http.envelope import wrap
from .core.http.problems import problem_response
from .core.keystore import open_keystore
from .core.settings import ComposedSettings, load, namespaces
from .core.transaction import transaction
from .delivery.channel import Handler
from .delivery.engine import Engine
from .delivery.mailer import open_mailer
from .delivery.post import BackgroundPost, Post
from .fitting import check_account_model, check_application
from .health.service import Readiness
from .hooks import Claims, Hooks, Payload, Receivers, RecoveryMail, WorkspaceResolver
from .storage import FileStore
from .storage.choice import open_file_store

if TYPE_CHECKING:
    from .notifications.sending import Sent

log = logging.getLogger(__name__)

_COMMANDS = (accounts_commands, frontdesk_commands)


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
        model = check_account_model(account_model)
        hooks = _replaced(
            self.hooks,
            active_statuses=active_statuses,
            account_schema=account_schema,
            login_schema=login_schema,
            idp_payload_schema=idp_payload_schema,
            task_create_schema=task_create_schema,
            task_update_schema=task_update_schema,
        )
        desk = self._lay(app, db, hooks, settings, clock or SystemClock(), owns_application)
        mailer = open_mailer(app, desk.settings)
        files = file_store or open_file_store(desk.settings.profiles, Path(app.instance_path))
        accounts = _furnish(desk, model, post or BackgroundPost(mailer, desk.clock.now))
        commands = [*_COMMANDS]
        if accounts is not None:
            with_accounts.furnish(desk, accounts, files)
            with app.app_context():
                with_accounts.furnish_notifications(
                    app, desk, db.engine, accounts.model, mailer, engine
                )
            commands += with_accounts.COMMANDS
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

        def register(listener: Listener) -> Listener:
            self._listeners.append((event, listener))
            for desk in self._desks:
                desk.emitter.on(event, listener)
            return listener

        return register

    def claims(self, hook: Claims) -> Claims:
        """What is merged into the token's claims: `(account, session) -> dict`."""
        self._set("claims", hook)
        return hook

    def payload(self, hook: Payload) -> Payload:
        """What the login answers: `(payload, session) -> payload`."""
        self._set("payload", hook)
        return hook

    def recovery_mail(self, hook: RecoveryMail) -> RecoveryMail:
        """Sends the recovery mail: `(email_to=, username=, token=, code=)`."""
        self._set("recovery_mail", hook)
        return hook

    def workspace_resolver(self, hook: WorkspaceResolver) -> WorkspaceResolver:
        """Finds the slug for guards that name no resolver of their own:
        `(session, account, path_params, headers) -> slug | None`."""
        self._set("workspace_resolver", hook)
        return hook

    def use_workspaces(self) -> None:
        """Give every new account a workspace, and tell of workspaces at login.

        A host with claims and payload hooks of its own calls ours from them instead.
        """
        from .workspaces.login import (
            delete_own_workspace,
            make_default_workspace,
            workspace_claims,
            workspace_payload,
        )
        from .workspaces.schemas import WorkspaceLoginRead

        self._set("claims", workspace_claims)
        self._set("payload", workspace_payload)
        self._set("login_schema", self.hooks.login_schema or WorkspaceLoginRead)
        self.on(REGISTERED)(make_default_workspace)
        self.on(DELETED)(delete_own_workspace)

    def receivers(self, hook: Receivers) -> Receivers:
        """Who receives a notification: `(accounts, session) -> accounts or ids`."""
        self._set("receivers", hook)
        return hook

    def channel(self, name: str) -> Callable[[Handler], Handler]:
        """Handle a channel of the host's own: `(message, receiver) -> reference or None`."""

        def register(handler: Handler) -> Handler:
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
        from .notifications.sending import Draft, Sending, account_ids

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

    def _lay(
        self,
        app: Flask,
        db: SQLAlchemy,
        hooks: Hooks,
        settings: object | None,
        clock: Clock,
        owns: bool,
    ) -> Desk:
        chosen = namespaces(settings if settings is not None else load(ComposedSettings))
        if not owns and not chosen.secret_key_is_set and app.secret_key:
            key = app.secret_key
            chosen = replace(
                chosen,
                secret_key=key if isinstance(key, str) else key.hex(),
                secret_key_is_set=True,
            )
        if not chosen.secret_key_is_set:
            log.warning(
                "SECRET_KEY is not set: a random one is used, so tokens end with this process"
                " and no other worker accepts them."
            )
        with app.app_context():
            if db.engine.dialect.name == "sqlite":
                prepare_sqlite(db.engine)
        desk = Desk(
            settings=chosen,
            session=FollowingSession(db),
            hooks=hooks,
            emitter=Emitter(),
            keystore=open_keystore(chosen.core, lambda: db.engine, clock),
            clock=clock,
            owns_application=owns,
        )
        for event, listener in self._listeners:
            desk.emitter.on(event, listener)
        self._desks.add(desk)
        return desk


def _replaced(hooks: Hooks, **given: Any) -> Hooks:
    """A copy, so that what one application is given is not seen by another."""
    return replace(hooks, **{name: value for name, value in given.items() if value is not None})


def _furnish(desk: Desk, account_model: type[Any] | None, post: Post) -> Accounts | None:
    """Which service needs what, in one place."""
    desk.add(Readiness(desk.session, desk.keystore))
    if account_model is None:
        desk.lacking = AccountModelMissing
        log.warning("%s", AccountModelMissing.remedy)
        return None
    refer_to_accounts(account_model.__table__)
    accounts = Accounts(
        desk.session,
        account_model,
        Passwords(desk.settings.auth.BCRYPT_ROUNDS, desk.settings.auth.LOGINS_AT_ONCE),
        desk.emitter,
        desk.clock,
    )
    desk.add(accounts)
    furnish_auth(desk, accounts, post)
    return accounts
