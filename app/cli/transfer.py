"""`flask accounts import` and `export`: moving in with accounts from elsewhere, and moving out."""

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
import orjson

from ..accounts.service import Accounts
from ..core.context import service
from ..core.process.folders import private
from ..transfer.account import RowFault
from ..transfer.exporting import Exporter, write_csv, write_ndjson
from ..transfer.formats import READERS, Reader, firebase
from ..transfer.importing import Importer, ImportOptions
from ..transfer.report import Report
from .accounts import group as group
from .accounts import in_words

_STREAM = "-"


@group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(list(READERS)), default="frontdesk", show_default=True
)
@click.option("--dry-run", is_flag=True, help="Say what would become of each row; change nothing.")
@click.option(
    "--update",
    is_flag=True,
    help="Of accounts that are there change role, status, phone, profile and memberships, and add"
    " what is missing. Neither addresses and ids are changed, nor a password that is there.",
)
@click.option("--emit", is_flag=True, help="Tell `account-registered` of each new account.")
@click.option(
    "--trust-addresses",
    is_flag=True,
    help="Take those addresses for verified too of which the file says that nobody has done so.",
)
@click.option(
    "--hash-config",
    type=click.Path(exists=True, dir_okay=False),
    help="A file with the hash parameters that Firebase's console shows.",
)
@click.option("--report", type=click.Path(dir_okay=False), help="Default: FILE.report.csv")
@in_words
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
    """Bring accounts in from FILE (or - for what is piped in).

    Rows that cannot be taken are named in the report with the reason, and all others go in. An
    import that was stopped goes on when it is run again: what is there already is passed over.
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
            click.echo(orjson.dumps({**result.numbers(), "report": said}).decode())


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default=_STREAM)
@click.option("--csv", "as_csv", is_flag=True, help="CSV in the place of JSON lines.")
@in_words
def export_accounts(file: str, as_csv: bool) -> None:
    """Write every account, with its hash, to FILE, in the form that `import` reads.

    The file is for nobody's eyes: it is made readable for its owner alone.
    """
    write = write_csv if as_csv else write_ndjson
    lines = Exporter(service(Accounts)).lines()
    if file == _STREAM:
        write(lines, sys.stdout)
        return
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
        except RowFault as fault:
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
