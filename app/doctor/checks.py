"""The checks of the doctor, in their order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from flask import current_app
from sqlalchemy import inspect

from ..accounts.passwords import DEFAULT_PASSWORD
from ..accounts.service import Accounts
from ..auth.errors import ProviderUnavailable
from ..auth.idp.service import IdpSignIn
from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.db.revisions import missing_columns, pending_migrations
from ..core.errors import Unavailable
from ..core.extras import missing_extra
from ..core.keystore import DatabaseKeystore, MemoryKeystore, check_keystore_writes
from ..core.process.folders import migrations_folder
from ..delivery.outbox.enqueue import Outbox, oldest_pending
from ..delivery.outbox.models import Delivery
from ..notifications.counts import expansions_by_state, oldest_expansion
from ..notifications.models import GIVEN_UP, Expansion
from ..profiles.settings import ProfilesSettings
from .addresses import (
    check_client_host,
    check_client_name,
    check_console,
    check_proxies,
    check_public_url,
)
from .databases import check_clock, check_database, check_email_index
from .delivery import LOOPBACK, check_broker, check_mail_server, check_mail_settings
from .factors import check_second_factors
from .file_stores import check_export_store, check_file_store, check_private_files
from .findings import Check, Finding
from .set_up import (
    check_administration,
    check_brand,
    check_guards,
    check_passkeys,
    check_secret_key,
    check_settings,
)

LONGEST_WAIT = timedelta(minutes=5)


def findings(checks: Sequence[Check]) -> list[Finding]:
    """A database that cannot be used is one finding: what needs the database is not asked then."""
    database = _found(check_database) if check_database in checks else []
    left = [
        check
        for check in checks
        if check is not check_database and not (database and _needs_database(check))
    ]
    return [*database, *(finding for check in left for finding in _found(check))]


def _needs_database(check: Check) -> bool:
    in_database = isinstance(current_frontdesk.keystore, DatabaseKeystore)
    return check in NEED_DATABASE or (check is check_keystore and in_database)


def _found(check: Check) -> list[Finding]:
    """What cannot be looked at is a finding too."""
    try:
        return list(check())
    except Exception as error:
        name = check.__name__.removeprefix("check_")
        return [Finding(name, "fault", f"cannot be checked: {type(error).__name__}")]


def check_pooler() -> Iterator[Finding]:
    engine = current_app.extensions["sqlalchemy"].engine
    if engine.dialect.name == "postgresql":
        from ..core.db.pooler import pooler_problem  # loads the driver

        if problem := pooler_problem(engine):
            yield Finding("pooler", "fault", problem)


def check_migrations() -> Iterator[Finding]:
    context = current_frontdesk
    is_service = context.owns_application
    with current_app.extensions["sqlalchemy"].engine.connect() as connection:
        pending = pending_migrations(connection, migrations_folder(), is_service=is_service)
        if pending:
            command = "flask db upgrade" if is_service else "flask db upgrade heads"
            text = f"pending: {', '.join(pending)}; run `{command}`"
            yield Finding("migrations", "fault", text)
            return
        if lacking := missing_columns(connection, context.metadata, context.tables.accounts):
            # Frontdesk's history creates no column in an application's own table of accounts.
            yield Finding(
                "migrations",
                "fault",
                f"the database lacks {', '.join(lacking)}; bring its schema up, with"
                " `flask db migrate` and `flask db upgrade` where our tables are in your own"
                " history",
            )


def check_keystore() -> Iterator[Finding]:
    context = current_frontdesk
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if isinstance(context.keystore, MemoryKeystore):
        level: Literal["fault", "warning"] = "fault" if workers > 1 else "warning"
        yield Finding(
            "keystore",
            level,
            f"in memory, with {workers} worker(s): each worker counts rate limits by itself, a code"
            " by email works in the worker that sent it only, and a restart forgets both; configure"
            " Redis or CORE__KEYSTORE=database",
        )
        return
    path = context.keystore.path() if isinstance(context.keystore, DatabaseKeystore) else None
    try:
        check_keystore_writes(context.keystore)
    except Unavailable as error:
        where: object = path or getattr(context.keystore, "address", "CORE__KEYSTORE=database")
        reason = str(error.__cause__ or "").splitlines() or ["no answer"]
        yield Finding("keystore", "fault", f"{error.detail} at {where}: {reason[0]}")


def check_first_password() -> Iterator[Finding]:
    if current_frontdesk.settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        yield Finding("superuser", "fault", "FIRST_SUPERUSER_PASSWORD is still the default")


def check_superuser() -> Iterator[Finding]:
    accounts = service(Accounts)
    email = current_frontdesk.settings.top_level("FIRST_SUPERUSER")
    root = accounts.find(email) if email else None
    if root and accounts.passwords.matches(DEFAULT_PASSWORD, root.password_hash):
        yield Finding("superuser", "fault", f"{root.email} still has the default password")


def check_sms() -> Iterator[Finding]:
    names = ("SMS_ACCOUNT_SID", "SMS_AUTH_TOKEN", "SMS_PHONE_NUMBER")
    missing = [name for name in names if not current_frontdesk.settings.top_level(name)]
    if missing:
        yield Finding("sms", "warning", f"not set: {', '.join(missing)}; no SMS is sent")
    elif line := missing_extra("sms"):
        yield Finding("sms", "fault", f"set up, and the extra is missing: {line}")


def check_worker_lag() -> Iterator[Finding]:
    if Outbox not in current_frontdesk.services:
        return
    engine = current_app.extensions["sqlalchemy"].engine
    session, tables = current_frontdesk.session, set(inspect(engine).get_table_names())
    if not {Delivery.__tablename__, Expansion.__tablename__} <= tables:
        # Said by the check of the migrations.
        return
    found = [each for each in (oldest_pending(session), oldest_expansion(session)) if each]
    if found and (waits := current_frontdesk.clock.now() - min(found)) > LONGEST_WAIT:
        minutes = int(waits.total_seconds() // 60)
        text = (
            f"the oldest delivery or broadcast waits for {minutes} minutes: does a worker run, and"
            " does the mail server answer? See `flask notifications status`"
        )
        yield Finding("worker_lag", "fault", text)
    if count := expansions_by_state(session).get(GIVEN_UP):
        text = (
            f"{count} broadcasts did not reach all their receivers, and the log says why;"
            " `flask notifications retry` continues them"
        )
        yield Finding("broadcasts", "fault", text)


def check_idp() -> Iterator[Finding]:
    if IdpSignIn not in current_frontdesk.services:
        return
    url = urlsplit(current_frontdesk.settings.of(AuthSettings).IDP_METADATA_URL)
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        yield Finding(
            "idp", "warning", "IDP_METADATA_URL is plain HTTP: who is on the way can be anybody"
        )
    try:
        service(IdpSignIn).provider.open().begin(current_frontdesk.settings.core.CLIENT_HOST)
    except ProviderUnavailable as error:
        reason = type(error.__cause__).__name__
        address = url.netloc.rpartition("@")[2]
        where = f"the identity provider at {address} cannot be used"
        yield Finding("idp", "fault", f"{where}: {reason}; see IDP_METADATA_URL")


def check_profiles() -> Iterator[Finding]:
    if "profiles" not in current_frontdesk.mounted.names:
        return
    settings = current_frontdesk.settings.of(ProfilesSettings)
    is_open = settings.VISIBILITY == "everyone" and settings.PUBLIC_FIELDS is None
    if is_open and not current_app.debug:
        yield Finding(
            "profiles",
            "warning",
            "PROFILES__VISIBILITY is everyone: any account reads anybody's profile, phone, address"
            " and birth date included; set workspaces or private, or PROFILES__PUBLIC_FIELDS",
        )
    if line := missing_extra("avatars"):
        yield Finding("profiles", "warning", f"avatars are refused without Pillow: {line}")


# Those that take no time, and ask nobody but the keystore: a page can wait for them.
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
)
CHECKS: Sequence[Check] = (
    *QUICK,
    check_database,
    check_pooler,
    check_migrations,
    check_clock,
    check_superuser,
    check_worker_lag,
    check_email_index,
    check_client_name,
    check_mail_server,
    check_broker,
    check_file_store,
    check_export_store,
    check_idp,
)
