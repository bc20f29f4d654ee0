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
from .groups import HELP

group = AppGroup("frontdesk", help=HELP["frontdesk"])


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one line of JSON.")
def doctor(as_json: bool) -> None:
    """Check the configuration and the servers that it names.

    The command prints errors and warnings. The exit code is 1 if there is an error.

    \b
    Examples:
      flask frontdesk doctor
      flask frontdesk doctor --json
    """
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
    """Delete expired data and print the numbers of deleted rows and files.

    Expired data are: entries of the state store, unused profile pictures, old notifications,
    invitations, email changes, data exports, audit log entries, sessions, unconfirmed authenticator
    apps, trusted devices, accounts with an email address that was not verified in time, and
    accounts with a requested deletion. Run the command once a day.

    \b
    Examples:
      flask frontdesk prune
    """
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
    """Encrypt all MFA secrets with the first key of AUTH__ENCRYPTION_KEYS.

    Remove the older keys from the setting afterwards. An interrupted run can be repeated. The exit
    code is 1 if a secret could not be decrypted.

    \b
    Examples:
      flask frontdesk reencrypt
    """
    if Reencryption not in current_frontdesk.services:
        raise click.ClickException("MFA is disabled: set AUTH__MFA to enable it.")
    report = service(Reencryption).run()
    click.echo(orjson.dumps(asdict(report)).decode())
    if report.unreadable:
        raise SystemExit(1)


@group.command("first-root")
@in_words
def first_root() -> None:
    """Print a link to the console page that creates the first root account.

    The link expires after 24 hours.

    \b
    Examples:
      flask frontdesk first-root
    """
    context = find_context()
    if "console" not in context.mounted.names:
        raise click.ClickException(
            "The console is not mounted: use `flask accounts ensure-superuser` instead."
        )
    first = FirstRoot(context)
    if not first.is_missing():
        raise RootExists
    click.echo(first.link())
