"""`flask frontdesk doctor`: what in this set-up would bite its operator, before it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from secrets import token_hex
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

import click
import orjson
from flask import current_app
from flask.cli import AppGroup
from sqlalchemy import Table, inspect, select

from ..accounts.service import Accounts
from ..auth.errors import ProviderUnavailable
from ..auth.idp import IdpSignIn
from ..core.desk import current_desk, service
from ..core.errors import Unavailable
from ..core.folders import migrations_folder
from ..core.keystore import MemoryKeystore
from ..core.migration_state import lacking_columns, our_revisions
from ..delivery.courier import Courier
from ..delivery.models import Delivery
from ..profiles.avatars import Avatars
from .accounts import DEFAULT_PASSWORD

SHORTEST_SECRET = 32
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_WAIT = timedelta(minutes=5)

group = AppGroup("frontdesk", help="Look after this installation.")


class Finding(NamedTuple):
    check: str
    level: Literal["fault", "warning"]
    message: str


Check = Callable[[], Iterator[Finding]]


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Tell what would bite an operator; exit code 1 when it is a fault."""
    findings = [finding for check in CHECKS for finding in _found(check)]
    faults = [finding for finding in findings if finding.level == "fault"]
    if as_json:
        report = {"ok": not faults, "findings": [finding._asdict() for finding in findings]}
        click.echo(orjson.dumps(report).decode())
    else:
        for finding in findings:
            click.echo(f"{finding.level:8}{finding.check}: {finding.message}")
        click.echo(f"{len(faults)} faults, {len(findings) - len(faults)} warnings")
    if faults:
        raise SystemExit(1)


def _found(check: Check) -> list[Finding]:
    """What cannot be looked at is a finding too."""
    try:
        return list(check())
    except Exception as error:
        name = check.__name__.removeprefix("check_")
        return [Finding(name, "fault", f"cannot be checked: {type(error).__name__}")]


def check_secret_key() -> Iterator[Finding]:
    settings = current_desk.settings
    if not settings.secret_key_is_set:
        yield Finding("secret_key", "fault", "SECRET_KEY is not set; set it to a random value")
    elif len(settings.secret_key.encode()) < SHORTEST_SECRET:
        yield Finding("secret_key", "fault", f"SECRET_KEY has under {SHORTEST_SECRET} bytes")


def check_database() -> Iterator[Finding]:
    current_desk.session.execute(select(1))
    yield from ()


def check_migrations() -> Iterator[Finding]:
    engine = current_app.extensions["sqlalchemy"].engine
    revisions = our_revisions(engine, migrations_folder())
    is_service = current_desk.owns_application
    if is_service or revisions.applied:
        if revisions.pending:
            names = ", ".join(sorted(revisions.pending))
            command = "flask db upgrade" if is_service else "flask db upgrade heads"
            yield Finding("migrations", "fault", f"pending: {names}; run `{command}`")
    elif lacking := lacking_columns(engine, _account_table()):
        # A host that has our tables in its own history, or lets SQLAlchemy create them.
        yield Finding(
            "migrations",
            "fault",
            f"the database lacks {', '.join(lacking)}; bring its schema up, with"
            " `flask db migrate` and `flask db upgrade` where our tables are in your own history",
        )


def _account_table() -> Table | None:
    if Accounts not in current_desk.services:
        return None
    table: Table = service(Accounts).model.__table__
    return table


def check_keystore() -> Iterator[Finding]:
    desk = current_desk
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if isinstance(desk.keystore, MemoryKeystore):
        level: Literal["fault", "warning"] = "fault" if workers > 1 else "warning"
        yield Finding(
            "keystore",
            level,
            f"in memory, with {workers} worker(s): a logout is known to one worker only and is"
            " forgotten at a restart; configure Redis or CORE__KEYSTORE=database",
        )
        return
    try:
        desk.keystore.ping()
    except Unavailable as error:
        yield Finding("keystore", "fault", error.detail)


def check_superuser() -> Iterator[Finding]:
    settings = current_desk.settings
    if settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        yield Finding("superuser", "fault", "FIRST_SUPERUSER_PASSWORD is still the default")
    accounts = service(Accounts)
    email = settings.top_level("FIRST_SUPERUSER")
    root = accounts.find(email) if email else None
    if root and accounts.passwords.matches(DEFAULT_PASSWORD, root.password_hash):
        yield Finding("superuser", "fault", f"{root.email} still has the default password")


def check_mail() -> Iterator[Finding]:
    settings = current_desk.settings
    if not settings.core.EMAILS_ENABLED:
        yield Finding("mail", "warning", "CORE__EMAILS_ENABLED is off: no mail leaves")
    elif not (settings.top_level("MAIL_SERVER") or current_app.config.get("MAIL_SERVER")):
        yield Finding("mail", "warning", "MAIL_SERVER is not set: mails go to instance/outbox")


def check_sms() -> Iterator[Finding]:
    names = ("SMS_ACCOUNT_SID", "SMS_AUTH_TOKEN", "SMS_PHONE_NUMBER")
    missing = [name for name in names if not current_desk.settings.top_level(name)]
    if missing:
        yield Finding("sms", "warning", f"not set: {', '.join(missing)}; no SMS is sent")


def check_worker_lag() -> Iterator[Finding]:
    if Courier not in current_desk.services:
        return
    engine = current_app.extensions["sqlalchemy"].engine
    if not inspect(engine).has_table(Delivery.__tablename__):
        # Said by the check of the migrations.
        return
    oldest = service(Courier).queue.oldest_waiting()
    if oldest is not None and (waits := current_desk.clock.now() - oldest) > LONGEST_WAIT:
        minutes = int(waits.total_seconds() // 60)
        text = (
            f"the oldest delivery waits for {minutes} minutes: does a worker run, and does the"
            " mail server answer? See `flask notifications status`"
        )
        yield Finding("worker_lag", "fault", text)


def check_client_host() -> Iterator[Finding]:
    url = urlsplit(current_desk.settings.core.CLIENT_HOST)
    if url.scheme == "http" and url.hostname not in LOOPBACK:
        yield Finding(
            "client_host", "warning", "CORE__CLIENT_HOST is plain HTTP: mailed links can be read"
        )


def check_idp() -> Iterator[Finding]:
    if IdpSignIn not in current_desk.services:
        return
    url = urlsplit(current_desk.settings.auth.IDP_METADATA_URL)
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        yield Finding(
            "idp", "warning", "IDP_METADATA_URL is plain HTTP: who is on the way can be anybody"
        )
    try:
        service(IdpSignIn).open_provider().begin(current_desk.settings.core.CLIENT_HOST)
    except ProviderUnavailable as error:
        reason = type(error.__cause__).__name__
        yield Finding("idp", "fault", f"the identity provider cannot be used: {reason}")


def check_public_url() -> Iterator[Finding]:
    core = current_desk.settings.core
    if not core.PUBLIC_URL and urlsplit(core.CLIENT_HOST).hostname not in LOOPBACK:
        yield Finding(
            "public_url",
            "warning",
            "CORE__PUBLIC_URL is not set: avatars' URLs begin at the root, and work for a client"
            " of the same origin only",
        )


def check_file_store() -> Iterator[Finding]:
    """A file goes in and out again: a folder may be there and not be writable."""
    if Avatars not in current_desk.services:
        return
    files, name = service(Avatars).files, f"doctor-{token_hex(8)}.txt"
    try:
        files.put(name, b"", "text/plain")
        files.delete(name)
    except Unavailable as error:
        yield Finding("file_store", "fault", f"{error.detail}; the log says why")


CHECKS: list[Check] = [
    check_secret_key,
    check_database,
    check_migrations,
    check_keystore,
    check_superuser,
    check_mail,
    check_sms,
    check_worker_lag,
    check_client_host,
    check_public_url,
    check_file_store,
    check_idp,
]
