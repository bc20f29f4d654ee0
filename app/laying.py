"""Lays the `Desk` of one application: its settings, keystore and emitter, and the services that
every application has."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from .accounts.errors import AccountModelMissing
from .accounts.passwords import Passwords
from .accounts.service import Accounts
from .auth.house import furnish as furnish_auth
from .core.clock import Clock
from .core.database import FollowingSession, prepare_sqlite, refer_to_accounts
from .core.desk import Desk
from .core.events import Emitter, Listener
from .core.keystore import open_keystore
from .core.settings import ComposedSettings, Namespaces, load, namespaces
from .delivery.post import Post
from .health.service import Readiness
from .hooks import Hooks

log = logging.getLogger(__name__)


def lay_desk(
    app: Flask,
    db: SQLAlchemy,
    settings: object | None,
    hooks: Hooks,
    listeners: Iterable[tuple[str, Listener]],
    clock: Clock,
    *,
    owns: bool,
) -> Desk:
    chosen = namespaces(settings if settings is not None else load(ComposedSettings))
    if not owns:
        chosen = _with_key_of(app, chosen)
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
    for event, listener in listeners:
        desk.emitter.on(event, listener)
    return desk


def _with_key_of(app: Flask, settings: Namespaces) -> Namespaces:
    """What a host has set already need not be said again."""
    key = app.secret_key
    if settings.secret_key_is_set or not key:
        return settings
    return replace(
        settings, secret_key=key if isinstance(key, str) else key.hex(), secret_key_is_set=True
    )


def furnish(desk: Desk, account_model: type[Any] | None, post: Post) -> Accounts | None:
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
