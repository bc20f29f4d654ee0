"""Builds the context of an application, and adds the features that are switched on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from flask import Flask

from ..audit.settings import AuditSettings
from ..auth.settings import AuthSettings
from ..core.actions import Actions
from ..core.audit_log.rejections import RejectionRecorder
from ..core.clock import Clock, SystemClock
from ..core.config.environment import SettingsError
from ..core.config.removed_settings import REMOVED_SETTINGS
from ..core.config.settings import CoreSettings, LoadedSettings
from ..core.context import ApplicationChoices, Basics, Context, Databases
from ..core.db.account_ids import set_id_kind
from ..core.db.base import hide_parameters, prepare_sqlite
from ..core.db.session import Database, FollowingSession, follow_session
from ..core.db.tables import ApplicationTables
from ..core.extras import missing_extra
from ..core.hooks import Hooks
from ..core.keystore import Keystore, open_keystore
from ..core.security_log import RejectionLog
from ..core.web.request_hooks import DisabledRoutes
from ..delivery.start import has_own_engine, start_with_first_request
from .actions import REJECTIONS
from .checks import check_proxies
from .sources import application_settings, service_settings
from .tables import add_tables, work_tables

if TYPE_CHECKING:
    # Loaded only with CORE__DATABASE_READ_URL.
    from ..core.replica import Replica

log = logging.getLogger(__name__)

ROOT = __package__.partition(".")[0]


class Feature(NamedTuple):
    """A package with services, and the function `assemble` that registers them."""

    package: str
    # The module with the function, if it is not the package's `assembly`.
    module: str = ""
    # Whether applications have it without its blueprint, because settings or other features say so.
    at_start: bool = False

    def assemble(self, context: Context) -> None:
        module = f"..{self.module or f'{self.package}.assembly'}"
        import_module(module, __package__).assemble(context)


def features(context: Context) -> Iterator[Feature]:
    """Yield the features that the settings enable. Their order does not matter.

    Features that are not assembled at the start are imported and assembled when their blueprint is
    mounted, or when one of their services or their contributions are needed.
    """
    yield Feature("accounts", at_start=True)
    yield Feature("delivery.mail", at_start=True)
    if context.tables.account_model is not None:
        yield from _features_of_accounts(context)
    yield Feature("audit", "audit.service")
    yield Feature("health", "health")
    yield Feature("monitoring", at_start=context.owns_application)


def _features_of_accounts(context: Context) -> Iterator[Feature]:
    auth = context.settings.of(AuthSettings)
    yield Feature("accounts.search", "accounts.search")
    yield Feature("delivery", at_start=has_own_engine(context))
    yield Feature("auth", at_start=True)
    if auth.stores_sessions:
        yield Feature("auth.sessions", at_start=True)
    if auth.keeps_authenticators:
        yield Feature("auth.mfa", at_start=True)
    if auth.takes_passkeys:
        yield Feature("auth.passkeys", at_start=True)
    if auth.LOGIN_BY_CODE == "on":
        yield Feature("auth.login_codes", "auth.login_codes.service", at_start=True)
    if auth.PERSONAL_TOKENS == "on":
        yield Feature("tokens", at_start=True)
    # The table of what groups have given refers to workspaces.
    yield Feature("workspaces", at_start=auth.has_providers)
    yield Feature("registration", "registration.service", at_start=auth.REGISTRATION != "closed")
    yield Feature("profiles")
    yield Feature("notifications")
    yield Feature("broadcasts")
    yield Feature("exports")
    yield Feature("deletion")
    yield Feature("administration")


def assemble(context: Context) -> None:
    _assemble_rejection_log(context)
    enabled = list(features(context))
    for feature in enabled:
        context.add_feature(feature.package, feature.assemble)
    for feature in enabled:
        if feature.at_start or context.owns_application:
            context.assemble_feature_of(f"{ROOT}.{feature.package}")
    if context.tables.account_model is not None:
        start_with_first_request(context, work_tables(context))
    if context.owns_application:
        find_setting = partial(find_disabling_setting, context.settings)
        context.contribute(DisabledRoutes(find_setting))
    context.build()
    add_tables(context)


def _assemble_rejection_log(context: Context) -> None:
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
        engine = db.engine
        if engine.dialect.name == "sqlite":
            prepare_sqlite(engine)
        for each in db.engines.values():
            set_id_kind(each.dialect, tables.account_ids)
            hide_parameters(each)
    clock = choices.parts["clock"] or SystemClock()
    keystore = open_keystore(chosen.core, lambda: db.engine, clock)
    session, replica = _follow_sessions(app, db, chosen.core, keystore)
    if replica is not None:
        set_id_kind(replica.engine.dialect, tables.account_ids)
    return Context(
        app=app,
        databases=Databases(db, engine, replica),
        settings=chosen,
        basics=Basics(session, clock, hooks, keystore),
        actions=make_actions(clock, chosen.of(AuditSettings).EVENTS),
        tables=tables,
        choices=choices,
    )


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


_OFF: tuple[object, ...] = ("off", "alone", False, {})


def find_disabling_setting(settings: LoadedSettings, path: str) -> str | None:
    """Return the name of the setting, such as `AUTH__SESSIONS`, or None for any other path.

    The table has the paths of all features: the packages of disabled features are not imported.
    """
    # Imported here: few processes respond with a 404.
    from .feature_routes import ROUTES

    prefix = settings.core.API_V1_STR
    if not path.startswith(f"{prefix}/"):
        return None
    parts = path.removeprefix(prefix).rstrip("/").split("/")
    for rule, names in ROUTES:
        if _matches(rule.split("/"), parts):
            for name in names.split():
                namespace, _, key = name.partition("__")
                if getattr(settings.namespaces[namespace], key) in _OFF:
                    return name
    return None


def _matches(rule: list[str], parts: list[str]) -> bool:
    pairs = zip(rule, parts, strict=False)
    return len(rule) == len(parts) and all(own in ("*", part) for own, part in pairs)
