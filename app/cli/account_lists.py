"""`flask accounts list` and `show`."""

from collections.abc import Iterator
from itertools import islice

import click
from sqlalchemy import ColumnElement

from ..accounts.models import DELETING, PENDING
from ..accounts.search import AccountFinder
from ..accounts.service import Accounts
from ..administration.filters import AccountFilters
from ..administration.view import AccountView
from ..core.context import service
from ..core.db.transaction import extended_timeout, unprepared
from .accounts import account_record, check_role, check_status
from .accounts import group as group
from .lookup import account_by_id_or_email
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
    # A filter may read a million accounts before it finds one.
    with extended_timeout(accounts.session), unprepared(accounts.session):
        found = accounts.all(*_conditions(accounts, status, role, search))
        records = map(account_record, islice(found, limit))
        print_records(records, COLUMNS, "There are no accounts.")


def _conditions(
    accounts: Accounts, status: str | None, role: str | None, search: str | None
) -> Iterator[ColumnElement[bool]]:
    if status is not None:
        check_status(status, (PENDING, DELETING))
        yield AccountFilters(accounts, None).in_status(status)
    if role is not None:
        check_role(role)
        yield accounts.model.role == role
    if search is not None:
        yield service(AccountFinder).find(search).is_match


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
    found = account_by_id_or_email(account)
    details = service(AccountView).read(found.id)
    # The status of `details` is active again after a suspension that has expired.
    print_record({**details, **account_record(found), "status": details["status"]})
