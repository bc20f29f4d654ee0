"""`flask accounts list` and `show`."""

from contextlib import suppress
from itertools import islice

import click
from sqlalchemy import ColumnElement

from ..accounts.models import DELETING, PENDING, AccountLike
from ..accounts.search import AccountFinder
from ..accounts.service import Accounts
from ..administration.view import AccountView
from ..core.context import find_context, service
from ..core.db.transaction import extended_timeout, unprepared
from .accounts import account_record, check_role, check_status
from .accounts import group as group
from .terminal import json_option, print_record, print_records

COLUMNS = ("id", "email", "role", "status", "phone", "created_at")


@group.command("list", short_help="List accounts.")
@click.option("--status", help="List only accounts with this status.")
@click.option("--role", help="List only accounts with this role.")
@click.option("--search", help="Part of an email address, name or phone number, or a complete ID.")
@click.option("--limit", type=click.IntRange(min=1), help="The maximum number of accounts.")
@json_option
def list_accounts(
    status: str | None, role: str | None, search: str | None, limit: int | None
) -> None:
    """List accounts, in the order of their ids.

    Without options, the command lists all accounts.

    \b
    Examples:
      flask accounts list
      flask accounts list --role admin --status suspended
      flask accounts list --search example.com --limit 20
    """
    accounts = service(Accounts)
    conditions: list[ColumnElement[bool]] = []
    if status is not None:
        check_status(status, (PENDING, DELETING))
        conditions.append(accounts.has_status_row(status))
    if role is not None:
        check_role(role)
        conditions.append(accounts.model.role == role)
    # A filter may read a million accounts before it finds one.
    with extended_timeout(accounts.session), unprepared(accounts.session):
        if search is not None:
            conditions.append(service(AccountFinder).find(search).is_match)
        records = map(account_record, islice(accounts.all(*conditions), limit))
        print_records(records, COLUMNS, "There are no accounts.")


@group.command(short_help="Print an account.")
@click.argument("account", metavar="EMAIL|ID")
@json_option
def show(account: str) -> None:
    """Print the account with the email address or id EMAIL|ID.

    \b
    Examples:
      flask accounts show ada@example.com
      flask accounts show 7
    """
    accounts, ids = service(Accounts), find_context().tables.account_ids
    found: AccountLike | None = accounts.find(account) if "@" in account else None
    with suppress(ValueError):
        found = found or accounts.by_id(ids.from_path(account))
    if found is None:
        kind = "email address" if "@" in account else "id"
        raise click.ClickException(f"No account has the {kind} {account}.")
    details = service(AccountView).read(found.id)
    # The status of `details` is active again after a suspension that has expired.
    print_record({**details, **account_record(found), "status": details["status"]})
