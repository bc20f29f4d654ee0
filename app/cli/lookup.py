"""Finds what a command names. The errors repeat the name, unlike the API's."""

from contextlib import suppress

import click

from ..accounts.addresses import read_email, read_phone
from ..accounts.errors import InvalidEmail, InvalidPhone
from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.context import find_context, service
from ..workspaces.errors import WorkspaceNotFound
from ..workspaces.models import Workspace
from ..workspaces.service import Workspaces


def account_of(email: str) -> AccountLike:
    account: AccountLike | None = service(Accounts).find(email)
    if account is None:
        raise click.ClickException(f"No account has the email address {email}.")
    return account


def account_by_id_or_email(name: str) -> AccountLike:
    if "@" in name:
        return account_of(name)
    accounts, ids = service(Accounts), find_context().tables.account_ids
    account: AccountLike | None = None
    with suppress(ValueError):
        account = accounts.by_id(ids.from_path(name))
    if account is None:
        raise click.ClickException(f"No account has the email address or id {name}.")
    return account


def check_new_email(email: str, account: AccountLike | None = None) -> None:
    """Raise for an email address that is malformed, or of another account."""
    try:
        address = read_email(email)
    except InvalidEmail:
        raise click.ClickException(f"{email} is not a valid email address.") from None
    if service(Accounts).find(address) not in (None, account):
        raise click.ClickException(f"An account with the email address {email} already exists.")


def check_phone(phone: str | None) -> None:
    try:
        if phone:
            read_phone(phone)
    except InvalidPhone:
        raise click.ClickException(
            f"{phone} is not a phone number in international format, such as +15005550006."
        ) from None


def workspace_of(slug: str) -> Workspace:
    try:
        return service(Workspaces).get(slug)
    except WorkspaceNotFound:
        raise click.ClickException(f"No workspace has the slug {slug}.") from None
