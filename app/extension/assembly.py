"""Builds the context of an application, and adds the features that are switched on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from flask import Flask

from ..accounts.assembly import assemble as accounts
from ..audit.service import assemble as audit
from ..audit.settings import AuditSettings
from ..auth import assembly as auth
from ..auth.settings import AuthSettings
from ..broadcasts.assembly import assemble as broadcasts
from ..core.actions import Actions
from ..core.audit_log.rejections import RejectionRecorder
from ..core.clock import Clock, SystemClock
from ..core.config.environment import SettingsError
from ..core.config.removed_settings import REMOVED_SETTINGS
from ..core.config.settings import CoreSettings
from ..core.context import ApplicationChoices, Basics, Context
from ..core.db.account_ids import set_id_kind
from ..core.db.base import prepare_sqlite
from ..core.db.session import Database, FollowingSession, follow_session
from ..core.db.tables import ApplicationTables
from ..core.extras import missing_extra
from ..core.hooks import Hooks
from ..core.keystore import Keystore, open_keystore
from ..core.security_log import RejectionLog
from ..deletion.assembly import assemble as deletion
from ..delivery.assembly import assemble as delivery
from ..exports.assembly import assemble as exports
from ..health import assemble as health
from ..monitoring.assembly import assemble as monitoring
from ..notifications.assembly import assemble as notifications
from ..profiles.assembly import assemble as profiles
from ..registration.service import assemble as registration
from ..workspaces.assembly import assemble as workspaces
from .actions import REJECTIONS
from .checks import check_proxies
from .sources import application_settings, service_settings

if TYPE_CHECKING:
    # Loaded only with CORE__DATABASE_READ_URL.
    from ..core.replica import Replica

log = logging.getLogger(__name__)

Assemble = Callable[[Context], None]


def features(context: Context) -> Iterator[Assemble]:
    """Yield what adds the services and tables of each feature that is switched on, in order:
    each finds in the context what those before it have added.

    Features that are switched off are not imported. Three are added by the blueprints that need
    them, when an application mounts these: tasks, administration and the console.
    """
    if context.tables.account_model is None:
        yield from (accounts, delivery, profiles, audit, health, monitoring)
        return
    settings = context.settings.of(AuthSettings)
    stores_sessions = settings.keeps_sessions or settings.keeps_cookies
    if settings.keeps_authenticators:
        from ..auth.mfa import assembly as mfa

        yield mfa.assemble_tables
    yield accounts
    yield delivery
    # Services that check credentials come first, because sign-in uses them.
    yield auth.assemble_proofs
    if stores_sessions:
        from ..auth.sessions import assembly as sessions

        yield sessions.assemble_store
    if settings.keeps_authenticators:
        yield mfa.assemble_authenticators
    if settings.takes_passkeys:
        from ..auth.passkeys import assembly as passkeys

        yield passkeys.assemble_proofs
    if settings.keeps_authenticators:
        yield mfa.assemble_second_factors
    if settings.LOGIN_BY_CODE == "on":
        from ..auth.login_codes import service as login_codes

        yield login_codes.assemble_codes
    yield auth.assemble
    if stores_sessions:
        yield sessions.assemble
    if settings.keeps_authenticators:
        yield mfa.assemble
    if settings.takes_passkeys:
        yield passkeys.assemble
    if settings.LOGIN_BY_CODE == "on":
        yield login_codes.assemble
    yield workspaces
    yield registration
    yield profiles
    yield notifications
    yield broadcasts
    yield audit
    yield exports
    yield deletion
    yield health
    yield monitoring


def assemble(context: Context) -> None:
    _assemble_records(context)
    with context.app.app_context():
        for add_feature in features(context):
            add_feature(context)
    # The models of all features are imported by now.
    context.tables.add_all()


def _assemble_records(context: Context) -> None:
    """Add the log of rejected requests, which other services use."""
    is_on = context.actions.audits
    recorder = RejectionRecorder(
        context.session, context.actions, REJECTIONS, context.owns_application
    )
    context.add(RejectionLog(context.clock, recorder.record if is_on else None))


def make_context(
    app: Flask,
    db: Database,
    settings: object | None,
    hooks: Hooks,
    make_actions: Callable[[Clock, bool], Actions],
    tables: ApplicationTables,
    choices: ApplicationChoices,
) -> Context:
    if choices.owns_application:
        chosen = service_settings(settings)
    else:
        chosen = application_settings(app, settings)
        check_proxies(chosen)
    for name, origin in chosen.removed.items():
        log.warning(
            "%s (set in %s) was removed and has no effect. %s Remove the setting.",
            name,
            origin.where,
            REMOVED_SETTINGS[name],
        )
    if not chosen.secret_key_is_set:
        log.warning(
            "SECRET_KEY is not set: a random key is used, so tokens are valid only until this"
            " process ends, and other workers do not accept them."
        )
    with app.app_context():
        if db.engine.dialect.name == "sqlite":
            prepare_sqlite(db.engine)
        for engine in db.engines.values():
            set_id_kind(engine.dialect, tables.account_ids)
    clock = choices.parts["clock"] or SystemClock()
    keystore = open_keystore(chosen.core, lambda: db.engine, clock)
    session, replica = _follow_sessions(app, db, chosen.core, keystore)
    if replica is not None:
        set_id_kind(replica.engine.dialect, tables.account_ids)
    context = Context(
        app=app,
        db=db,
        settings=chosen,
        basics=Basics(session, clock, hooks, keystore),
        actions=make_actions(clock, chosen.of(AuditSettings).EVENTS),
        tables=tables,
        choices=choices,
    )
    context.replica = replica
    return context


def _follow_sessions(
    app: Flask, db: Database, core: CoreSettings, keystore: Keystore
) -> tuple[FollowingSession, Replica | None]:
    """Return the session of the services, and the replica that they read lists from."""
    session, url = follow_session(db), core.DATABASE_READ_URL
    if url is None:
        return session, None
    with app.app_context():
        is_postgres = db.engine.dialect.name == "postgresql"
    if not is_postgres:
        raise SettingsError(
            "Invalid settings: CORE__DATABASE_READ_URL: needs PostgreSQL as the database, because"
            " SQLite has no replicas"
        )
    if line := missing_extra("postgresql"):
        raise SettingsError(f"CORE__DATABASE_READ_URL names PostgreSQL, and needs an extra: {line}")
    from ..core.replica import ReplicatedSession, open_replica

    session = ReplicatedSession(session)
    replica = open_replica(url.get_secret_value(), session, keystore, core)
    app.after_request(replica.note_writer)
    return session, replica
