"""All checks of the doctor, in order."""

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from flask import current_app
from sqlalchemy import inspect, make_url

from ..accounts.passwords import DEFAULT_PASSWORD
from ..accounts.service import Accounts
from ..auth.errors import ProviderUnavailable
from ..auth.idp.service import IdpSignIn
from ..auth.settings import AuthSettings
from ..broadcasts.counts import expansions_by_state, oldest_expansion
from ..core.context import current_frontdesk, service
from ..core.db.revisions import ReplacedRevision, missing_columns, pending_migrations
from ..core.errors import Unavailable
from ..core.extras import missing_extra
from ..core.keystore import DatabaseKeystore, MemoryKeystore, check_keystore_writes
from ..core.process.folders import migrations_folder
from ..delivery.outbox.enqueue import Outbox, oldest_pending
from ..delivery.outbox.models import Delivery
from ..notifications.models import GIVEN_UP, Expansion
from ..profiles.settings import ProfilesSettings
from .addresses import (
    check_client_host,
    check_client_name,
    check_console,
    check_proxies,
    check_public_url,
)
from .databases import check_clock, check_database, check_email_index, check_search_index
from .delivery import LOOPBACK, check_broker, check_mail_server, check_mail_settings
from .file_stores import check_export_store, check_file_store, check_private_files
from .findings import Check, Finding
from .partitions import check_partitions
from .replica import check_replica
from .set_up import (
    check_administration,
    check_brand,
    check_guards,
    check_passkeys,
    check_second_factors,
    check_secret_key,
    check_settings,
)

LONGEST_WAIT = timedelta(minutes=5)
# How redis-py's client of one server fails at a node of a cluster.
CLUSTER_ERRORS = ("MovedError", "AskError", "ClusterCrossSlotError", "ClusterDownError")


def findings(checks: Sequence[Check]) -> list[Finding]:
    """Run the checks. If the database cannot be used, that is one finding, and the checks that need
    the database are skipped."""
    database = _run(check_database) if check_database in checks else []
    others = [
        check
        for check in checks
        if check is not check_database and not (database and _needs_database(check))
    ]
    return [*database, *(finding for check in others for finding in _run(check))]


def _needs_database(check: Check) -> bool:
    in_database = isinstance(current_frontdesk.keystore, DatabaseKeystore)
    return check in NEED_DATABASE or (check is check_keystore and in_database)


def _run(check: Check) -> list[Finding]:
    """Return the findings of a check; an exception is a finding too."""
    try:
        return list(check())
    except Exception as error:
        name = check.__name__.removeprefix("check_")
        text = f"The check failed with {type(error).__name__}, so its result is unknown."
        return [Finding(name, "fault", text)]


def check_pooler() -> Iterator[Finding]:
    engine = current_app.extensions["sqlalchemy"].engine
    if engine.dialect.name != "postgresql":
        return
    from ..core.db import pooler  # loads the driver

    if problem := pooler.prepared_problem(engine):
        yield Finding("pooler", "fault", f"{problem}.")
    url = current_frontdesk.settings.core.DATABASE_DIRECT_URL
    direct = make_url(url.get_secret_value()) if url else None
    if direct is not None and (hosts := pooler.unreachable_hosts(engine, direct)):
        text = (
            f"The database at {hosts} cannot be reached with CORE__DATABASE_DIRECT_URL, so"
            " migrations fail. Check the URL, and that the database runs."
        )
        yield Finding("pooler", "fault", text)
    elif pooler.shares_sessions(engine, direct):
        yield Finding("pooler", "fault", f"{pooler.TRANSACTION_MODE}.")


def check_migrations() -> Iterator[Finding]:
    context = current_frontdesk
    is_service = context.owns_application
    with current_app.extensions["sqlalchemy"].engine.connect() as connection:
        try:
            pending = pending_migrations(connection, migrations_folder(), is_service=is_service)
        except ReplacedRevision as error:
            yield Finding("migrations", "fault", str(error))
            return
        if pending:
            command = "flask db upgrade" if is_service else "flask db upgrade heads"
            text = f"Migrations are pending: {', '.join(pending)}. Run `{command}`."
            yield Finding("migrations", "fault", text)
            return
        if missing := missing_columns(connection, context.metadata, context.tables.accounts):
            # Frontdesk's migrations add no column to an application's accounts table.
            yield Finding(
                "migrations",
                "fault",
                f"The database lacks {', '.join(missing)}. Run `flask db migrate` and"
                " `flask db upgrade`, or create the columns and tables yourself.",
            )


def check_keystore() -> Iterator[Finding]:
    context = current_frontdesk
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if isinstance(context.keystore, MemoryKeystore):
        level: Literal["fault", "warning"] = "fault" if workers > 1 else "warning"
        number = "1 worker" if workers == 1 else f"{workers} workers"
        yield Finding(
            "keystore",
            level,
            f"The state store is in memory, with {number}. Each worker counts rate limits"
            " separately, a code by email works only in the worker that sent the email, and a"
            " restart deletes counters and codes. Configure Redis, or set CORE__KEYSTORE=database.",
        )
        return
    path = context.keystore.path() if isinstance(context.keystore, DatabaseKeystore) else None
    try:
        check_keystore_writes(context.keystore)
    except Unavailable as error:
        where: object = path or getattr(context.keystore, "address", "CORE__KEYSTORE=database")
        reason = str(error.__cause__ or "").splitlines() or ["no response"]
        fix = "Check that the store runs and has space."
        if type(error.__cause__).__name__ in CLUSTER_ERRORS:
            fix = "The server is a node of a Redis Cluster: begin CORE__REDIS_URL with redis+cluster://."
        yield Finding("keystore", "fault", f"{error.detail} at {where}: {reason[0]}. {fix}")


def check_first_password() -> Iterator[Finding]:
    if current_frontdesk.settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        text = "FIRST_SUPERUSER_PASSWORD still has its default value. Set another password."
        yield Finding("superuser", "fault", text)


def check_superuser() -> Iterator[Finding]:
    accounts = service(Accounts)
    email = current_frontdesk.settings.top_level("FIRST_SUPERUSER")
    root = accounts.find(email) if email else None
    if root and accounts.passwords.matches(DEFAULT_PASSWORD, root.password_hash):
        text = (
            f"The account {root.email} still has the default password. Run"
            f" `flask accounts set {root.email} --password` to change the password."
        )
        yield Finding("superuser", "fault", text)


def check_sms() -> Iterator[Finding]:
    names = ("SMS_ACCOUNT_SID", "SMS_AUTH_TOKEN", "SMS_PHONE_NUMBER")
    missing = [name for name in names if not current_frontdesk.settings.top_level(name)]
    if missing:
        text = f"No SMS can be sent. To send SMS, set {', '.join(missing)}."
        yield Finding("sms", "warning", text)
    elif command := missing_extra("sms"):
        text = f"SMS is configured, and its extra is not installed. Run `{command}`."
        yield Finding("sms", "fault", text)


def check_worker_lag() -> Iterator[Finding]:
    if Outbox not in current_frontdesk.services:
        return
    engine = current_app.extensions["sqlalchemy"].engine
    session, tables = current_frontdesk.session, set(inspect(engine).get_table_names())
    if not {Delivery.__tablename__, Expansion.__tablename__} <= tables:
        # The check of the migrations reports the missing tables.
        return
    times = [time for time in (oldest_pending(session), oldest_expansion(session)) if time]
    if times and (age := current_frontdesk.clock.now() - min(times)) > LONGEST_WAIT:
        minutes = int(age.total_seconds() // 60)
        text = (
            f"The oldest delivery or broadcast has waited for {minutes} minutes. Check that a"
            " worker runs and that the mail server responds; `flask notifications status` shows the"
            " queue."
        )
        yield Finding("worker_lag", "fault", text)
    if count := expansions_by_state(session).get(GIVEN_UP):
        text = (
            f"Broadcasts that did not reach all recipients: {count}. The log has the reasons."
            " Run `flask notifications retry` to continue the broadcasts."
        )
        yield Finding("broadcasts", "fault", text)


def check_idp() -> Iterator[Finding]:
    if IdpSignIn not in current_frontdesk.services:
        return
    url = urlsplit(current_frontdesk.settings.of(AuthSettings).IDP_METADATA_URL)
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        text = (
            "IDP_METADATA_URL is an http:// URL, so an attacker on the network can impersonate the"
            " identity provider. Use an https:// URL."
        )
        yield Finding("idp", "warning", text)
    try:
        service(IdpSignIn).provider.open().begin(current_frontdesk.settings.core.CLIENT_HOST)
    except ProviderUnavailable as error:
        reason = type(error.__cause__).__name__
        address = url.netloc.rpartition("@")[2]
        text = (
            f"The identity provider at {address} cannot be used: {reason}. Check that the provider"
            " runs, and check IDP_METADATA_URL."
        )
        yield Finding("idp", "fault", text)


def check_profiles() -> Iterator[Finding]:
    if "profiles" not in current_frontdesk.mounted.names:
        return
    settings = current_frontdesk.settings.of(ProfilesSettings)
    is_open = settings.VISIBILITY == "everyone" and settings.PUBLIC_FIELDS is None
    if is_open and not current_app.debug:
        yield Finding(
            "profiles",
            "warning",
            "PROFILES__VISIBILITY is everyone, so any account can read all profiles with their"
            " phone numbers, addresses and birth dates. Set PROFILES__VISIBILITY to workspaces or"
            " private, or set PROFILES__PUBLIC_FIELDS.",
        )
    if command := missing_extra("avatars"):
        text = f"Avatars are rejected, because Pillow is not installed. Run `{command}`."
        yield Finding("profiles", "warning", text)


# Fast checks that use no server but the state store: the console runs them for a page.
QUICK: Sequence[Check] = (
    check_secret_key,
    check_settings,
    check_guards,
    check_brand,
    check_administration,
    check_keystore,
    check_private_files,
    check_first_password,
    check_mail_settings,
    check_sms,
    check_client_host,
    check_console,
    check_public_url,
    check_proxies,
    check_profiles,
    check_second_factors,
    check_passkeys,
)
NEED_DATABASE: Sequence[Check] = (
    check_pooler,
    check_migrations,
    check_clock,
    check_superuser,
    check_worker_lag,
    check_email_index,
    check_search_index,
    check_replica,
    check_partitions,
)
CHECKS: Sequence[Check] = (
    *QUICK,
    check_database,
    *NEED_DATABASE,
    check_client_name,
    check_mail_server,
    check_broker,
    check_file_store,
    check_export_store,
    check_idp,
)
