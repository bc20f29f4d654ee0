"""`flask frontdesk …`: check, prune and re-encrypt an installation, and link to its first root."""

from __future__ import annotations

from dataclasses import asdict

import click
import orjson
from flask.cli import AppGroup

from ..auth.mfa.reencryption import Reencryption
from ..console.first_run.first_root import FirstRoot, RootExists
from ..core.context import current_frontdesk, find_context, service
from ..core.keystore import DatabaseKeystore
from ..doctor.checks import CHECKS, findings
from .accounts import in_words

group = AppGroup("frontdesk", help="Look after this installation.")


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Print errors and warnings of this set-up; exit code 1 when there is an error."""
    found = findings(CHECKS)
    faults = [finding for finding in found if finding.level == "fault"]
    if as_json:
        report = {"ok": not faults, "findings": [finding._asdict() for finding in found]}
        click.echo(orjson.dumps(report).decode())
    else:
        for finding in found:
            level = "error" if finding.level == "fault" else finding.level
            click.echo(f"{level:8}{finding.check}: {finding.message}")
        click.echo(f"{len(faults)} errors, {len(found) - len(faults)} warnings")
    if faults:
        raise SystemExit(1)


KEYSTORE_BATCH = 1_000


@group.command()
@in_words
def prune() -> None:
    """Delete what has had its time: expired keystore rows, pictures that no profile shows, old
    notifications, invitations, changes of address, exports, records and sessions, authenticators
    that were not confirmed and devices that are not trusted any more, accounts that have waited too
    long for their address to be proven, and those whose owners want them to go."""
    report = {"keystore_entries": _keystore()}
    for name, delete_expired in current_frontdesk.contributions.pruners.items():
        report[name] = delete_expired()
    click.echo(orjson.dumps(report).decode())


def _keystore() -> int:
    keystore = current_frontdesk.keystore
    gone = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            gone += batch
    return gone


@group.command()
@in_words
def reencrypt() -> None:
    """Encrypt the secrets of second factors anew, with the first of AUTH__ENCRYPTION_KEYS: then the
    older ones can go. It may break off anywhere, and be begun again."""
    if Reencryption not in current_frontdesk.services:
        raise click.ClickException("There are no second factors here: AUTH__MFA is off.")
    report = service(Reencryption).run()
    click.echo(orjson.dumps(asdict(report)).decode())
    if report.unreadable:
        raise SystemExit(1)


@group.command("first-root")
@in_words
def first_root() -> None:
    """Print a link to the page that makes the first root account."""
    context = find_context()
    if "console" not in context.mounted.names:
        raise click.ClickException("There is no console here, whose page it would be.")
    first = FirstRoot(context)
    if not first.is_missing():
        raise RootExists
    click.echo(first.link())
