"""`flask accounts import` and `export`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO, cast

import click

from ..accounts.service import Accounts
from ..core.context import service
from ..core.process.folders import private
from ..transfer.account import RowError
from ..transfer.exporting import Exporter, write_csv, write_ndjson
from ..transfer.formats import READERS, Reader, firebase
from ..transfer.importing import Importer, ImportOptions, Report
from .accounts import group as group
from .terminal import confirm, json_option, print_record, yes_option

_STREAM = "-"


@group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(READERS)),
    default="frontdesk",
    show_default=True,
    help="The format of the file.",
)
@click.option("--dry-run", is_flag=True, help="Check all rows and change nothing.")
@click.option(
    "--update",
    is_flag=True,
    help="Also change existing accounts: role, status, phone, profile and memberships. Add missing"
    " passwords and identities. Never change email addresses, ids or existing passwords.",
)
@click.option("--emit", is_flag=True, help="Emit `account-registered` for each new account.")
@click.option(
    "--trust-addresses",
    is_flag=True,
    help="Import the email addresses that the file marks as unverified as verified.",
)
@click.option(
    "--hash-config",
    type=click.Path(exists=True, dir_okay=False),
    help="A file with the hash parameters of Firebase's console, for --format firebase.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False),
    help="The CSV file for refused rows and new ids, instead of FILE.report.csv.",
)
@json_option
def import_accounts(
    file: str,
    form: str,
    dry_run: bool,
    update: bool,
    emit: bool,
    trust_addresses: bool,
    hash_config: str | None,
    report: str | None,
) -> None:
    """Import accounts from FILE; - is standard input.

    Rows with errors are refused, and the report names the reasons. All other rows are imported.
    Existing accounts are skipped, so that an interrupted import can be repeated.

    \b
    Examples:
      flask accounts import users.jsonl --dry-run
      flask accounts import users.jsonl
      flask accounts import realm.json --format keycloak --report refused.csv
    """
    accounts = service(Accounts)
    choices = ImportOptions(update, dry_run, emit, trust_addresses)
    said = report or ("import" if file == _STREAM else file) + ".report.csv"
    read = _reader(form, hash_config)
    with _to_read(file) as stream, _to_write(said) as written:
        result = Report(written)
        try:
            Importer(accounts, result, choices).run(read(stream))
        finally:
            print_record({**result.numbers(), "report": said})


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default=_STREAM)
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV instead of JSON lines.")
@yes_option
def export_accounts(file: str, as_csv: bool) -> None:
    """Export all accounts with their password hashes to FILE; - is standard output.

    `flask accounts import` reads the file. Only the file's owner can read it.

    \b
    Examples:
      flask accounts export users.jsonl
      flask accounts export users.csv --csv
    """
    write = write_csv if as_csv else write_ndjson
    lines = Exporter(service(Accounts)).lines()
    if file == _STREAM:
        write(lines, sys.stdout)
        return
    if Path(file).is_file():
        confirm(f"Overwrite {file}?")
    with _to_write(file) as stream:
        count = write(lines, stream)
    click.echo(f"{count} accounts are in {file}.", err=True)


def _reader(form: str, hash_config: str | None) -> Reader:
    if hash_config is None:
        return READERS[form]
    if form != "firebase":
        raise click.UsageError("--hash-config is for --format firebase.")
    with open(hash_config, encoding="utf-8") as shown:
        try:
            return partial(firebase.read, config=firebase.hash_config(shown.read()))
        except RowError as fault:
            raise click.ClickException(fault.reason) from None


@contextmanager
def _to_read(file: str) -> Iterator[TextIO]:
    """What is no UTF-8 in it is the fault of its row alone."""
    with click.open_file(file, "rb") as stream:
        # Line ends stay as they are: CSV has them inside of fields too.
        yield io.TextIOWrapper(
            cast(io.BufferedReader, stream), "utf-8-sig", errors="surrogateescape", newline=""
        )


@contextmanager
def _to_write(file: str) -> Iterator[TextIO]:
    with open(file, "w", encoding="utf-8", newline="", opener=private) as stream:
        if Path(file).is_file():
            # A file that was there before keeps its mode otherwise.
            os.fchmod(stream.fileno(), 0o600)
        yield stream
