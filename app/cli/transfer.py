"""`flask accounts import` and `export`."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO, cast

import click

from ..accounts.service import Accounts
from ..core.context import service
from ..core.process.folders import private
from ..transfer.account import Row
from ..transfer.exporting import Exporter, write_csv, write_ndjson
from ..transfer.formats import FORMATS
from ..transfer.formats.rows import read_accounts
from ..transfer.importing import Importer, ImportOptions, Report
from .account_lists import group as group
from .terminal import confirm, is_terminal, json_option, print_record, progress, yes_option

_STREAM = "-"
_DRY_RUN_LABELS = {"imported": "would import", "updated": "would update", "refused": "would reject"}


class RowsRefused(click.ClickException):
    """Some rows were rejected, and all other rows were imported."""

    exit_code = 3


@group.command("import", short_help="Import accounts from a file.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
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
    "--trust-emails",
    "--trust-addresses",
    "trust_addresses",
    is_flag=True,
    help="Import the email addresses that the file marks as unverified as verified.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False),
    help="The CSV file for rejected rows and new ids, instead of FILE.report.csv.",
)
@json_option
def import_accounts(
    file: str,
    form: str,
    dry_run: bool,
    update: bool,
    emit: bool,
    trust_addresses: bool,
    report: str | None,
) -> None:
    """Import accounts from FILE; - is standard input.

    Rows with errors are rejected, and the report names the reasons. All other rows are imported.
    Existing accounts are skipped, so that an interrupted import can be repeated. The exit code is 3
    if a row was rejected.

    \b
    Examples:
      flask accounts import users.jsonl --dry-run
      flask accounts import users.jsonl
      flask accounts import users.json --format django --report refused.csv
    """
    options = ImportOptions(update, dry_run, emit, trust_addresses)
    report = report or ("import" if file == _STREAM else file) + ".report.csv"
    if Path(report).is_file() and Path(file).is_file() and Path(report).samefile(file):
        raise click.UsageError("Write the report to a file other than FILE.")
    with _open_input(file) as stream, _open_output(report) as written:
        result = Report(written)
        try:
            with progress("Checking" if dry_run else "Importing", partial(_size, file)) as advance:
                rows = _follow(read_accounts(stream, FORMATS[form]), stream, advance)
                Importer(service(Accounts), result, options).run(rows)
        finally:
            numbers = {"dry_run": dry_run, **result.numbers(), "report": report}
            print_record(numbers, _DRY_RUN_LABELS if dry_run else {})
    if refused := result.refused.total():
        raise RowsRefused(
            f"Rows with errors: {refused} of {result.read}. The reasons are in {report}."
        )


@group.command("export", short_help="Export all accounts to a file.")
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
    exporter = Exporter(service(Accounts))
    if file == _STREAM:
        with progress("Exporting", partial(_count_for_stream, exporter)) as advance:
            write(exporter.lines(advance), sys.stdout)
        return
    if Path(file).is_file():
        confirm(f"Overwrite {file}?")
    with _open_output(file) as stream, progress("Exporting", exporter.count) as advance:
        count = write(exporter.lines(advance), stream)
    click.echo(f"{count} accounts are in {file}.", err=True)


def _count_for_stream(exporter: Exporter) -> int | None:
    """Return the length of the progress bar, or None for a terminal that shows the accounts."""
    return None if is_terminal(sys.stdout) else exporter.count()


def _size(file: str) -> int | None:
    """Return the size of a file, or None for a stream, which has no known size."""
    path = Path(file)
    return path.stat().st_size if file != _STREAM and path.is_file() else None


def _follow(rows: Iterator[Row], stream: TextIO, advance: Callable[[int], None]) -> Iterator[Row]:
    """Yield the rows, and advance a progress bar by the bytes that were read for them."""
    before, is_file = 0, stream.seekable()
    for row in rows:
        position = stream.buffer.tell() if is_file else 0
        advance(position - before)
        before = position
        yield row


@contextmanager
def _open_input(file: str) -> Iterator[TextIO]:
    """Open a file of accounts. Bytes that are not UTF-8 are errors of their row only."""
    with click.open_file(file, "rb") as stream:
        # Line breaks are kept, because fields of a CSV file may contain them.
        yield io.TextIOWrapper(
            cast(io.BufferedReader, stream), "utf-8-sig", errors="surrogateescape", newline=""
        )


@contextmanager
def _open_output(file: str) -> Iterator[TextIO]:
    try:
        descriptor = private(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}") from None
    with open(descriptor, "w", encoding="utf-8", newline="") as stream:
        if Path(file).is_file():
            # An existing file would keep its mode.
            os.fchmod(stream.fileno(), 0o600)
        yield stream
