"""`flask accounts …`: accounts from the command line, each printed as JSON on one line."""

from __future__ import annotations

from functools import wraps
from typing import Any

import click
import orjson
from flask import current_app
from flask.cli import AppGroup
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError

from ..accounts.models import ROLES, STATUSES, AccountLike
from ..accounts.passwords import DEFAULT_PASSWORD
from ..accounts.service import Accounts
from ..auth.idp.identities import Identities
from ..auth.limits import Failures
from ..auth.mfa.authenticators import FactorResets
from ..auth.schemas import account_read
from ..auth.sign_in.log_out import LogOut
from ..core.context import current_frontdesk, service
from ..core.errors import Problem
from ..core.keystore import MemoryKeystore
from ..core.types import AnyFunction
from ..core.web.problems import translate
from ..core.web.reading import instance
from .passwords import password_options

STATUS_HELP = f"One of {', '.join(STATUSES)}, or another that counts as active here."

group = AppGroup("accounts", help="Make, list, change and delete accounts.")


def in_words(command: AnyFunction) -> AnyFunction:
    """A problem is one sentence here, and exit code 1; so is a database that cannot be used."""

    @wraps(command)
    def run(*args: object, **kwargs: object) -> Any:
        try:
            return command(*args, **kwargs)
        except Problem as problem:
            raise click.ClickException(problem.detail) from None
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            raise click.ClickException(_refusal(error)) from None

    return run


def _refusal(error: DBAPIError) -> str:
    """What an operator meets who has not migrated yet, or names a database that is not there."""
    reason = str(error.orig).splitlines()[0]
    if (problem := translate(error)) is not None:
        return f"{problem.detail}: {reason}"
    return f"{reason}. If the database is not migrated yet, run `flask db upgrade`."


def show(account: AccountLike) -> None:
    click.echo(orjson.dumps(instance(account_read()).dump(account)).decode())


def check_status(status: str) -> None:
    """A host's own active ones are known with it only."""
    known = service(Accounts).statuses()
    if status not in known:
        raise click.BadParameter(
            f"{status!r} is not one of {', '.join(known)}.", param_hint="--status"
        )


def warn_of(password: str) -> None:
    for warning in service(Accounts).passwords.rules.warnings(password):
        click.echo(f"Warning: {warning}", err=True)


@group.command()
@click.argument("email")
@password_options(required=True)
@click.option("--role", type=click.Choice(ROLES), default="user", show_default=True)
@click.option("--status", default="active", show_default=True, help=STATUS_HELP)
@click.option("--phone", help="In international form, +1…")
@in_words
def create(email: str, password: str, role: str, status: str, phone: str | None) -> None:
    """Create an account and tell `account-registered`."""
    check_status(status)
    warn_of(password)
    show(service(Accounts).create(email, password, role=role, status=status, phone=phone))


@group.command("list")
@in_words
def list_accounts() -> None:
    """Print every account, one on a line."""
    for account in service(Accounts).all():
        show(account)


@group.command("set")
@click.argument("email")
@click.option("--email", "new_email")
@click.option("--role", type=click.Choice(ROLES))
@click.option("--status", help=STATUS_HELP)
@click.option("--phone", help="In international form; empty to remove it.")
@password_options(required=False)
@in_words
def change(email: str, new_email: str | None, **fields: Any) -> None:
    """Change an account. A new email address or password ends its tokens."""
    if fields["status"] is not None:
        check_status(fields["status"])
    if fields["password"]:
        warn_of(fields["password"])
    accounts = service(Accounts)
    account = accounts.change(accounts.get(email), email=new_email, **fields)
    if fields["password"]:
        service(Failures).forgive_all(account)
    show(account)


@group.command()
@click.argument("email")
@in_words
def delete(email: str) -> None:
    """Delete an account with all that is its own; the deleted one is printed."""
    accounts = service(Accounts)
    account = accounts.get(email)
    show(account)
    accounts.delete(account)


@group.command()
@click.argument("email")
@in_words
def unlock(email: str) -> None:
    """Reset the counters of wrong passwords and wrong second factors of an account."""
    if isinstance(current_frontdesk.keystore, MemoryKeystore):
        raise click.ClickException(
            "The keystore is in the server's memory, where this command cannot reach it:"
            " wait until the limit has passed, or restart the server."
        )
    account = service(Accounts).get(email)
    service(Failures).unlock(current_frontdesk.session, account)
    show(account)


@group.command("sign-out")
@click.argument("email", required=False)
@click.option("--all", "everybody", is_flag=True, help="Everybody, instead of one account.")
@in_words
def sign_out(email: str | None, everybody: bool) -> None:
    """End every token of an account, for good: the next login does not bring them back."""
    if everybody is (email is not None):
        raise click.UsageError("Name an account by its e-mail, or give --all.")
    if email is None:
        click.echo(orjson.dumps({"accounts": service(LogOut).everybody()}).decode())
        return
    account = service(Accounts).get(email)
    service(LogOut).by_operator(account)
    show(account)


@group.command()
@click.argument("email")
@in_words
def unlink(email: str) -> None:
    """Forget who signs in to an account through an identity provider, until the next time."""
    account = service(Accounts).get(email)
    service(Identities).unlink(account)
    show(account)


@group.command("reset-mfa")
@click.argument("email")
@in_words
def reset_mfa(email: str) -> None:
    """Take all second factors from an account whose owner has lost them, and end its tokens. Its
    password opens it from then on: be sure who asks."""
    if FactorResets not in current_frontdesk.services:
        raise click.ClickException("There are no second factors here: AUTH__MFA is off.")
    account = service(Accounts).get(email)
    service(FactorResets).reset(account)
    show(account)


@group.command("ensure-superuser")
@in_words
def ensure_superuser() -> None:
    """Create the first root account from FIRST_SUPERUSER and FIRST_SUPERUSER_PASSWORD."""
    settings = current_frontdesk.settings
    email = settings.top_level("FIRST_SUPERUSER")
    password = settings.top_level("FIRST_SUPERUSER_PASSWORD")
    if not email or not password:
        raise click.ClickException("Set FIRST_SUPERUSER and FIRST_SUPERUSER_PASSWORD.")
    accounts = service(Accounts)
    found = accounts.find(email)
    if found is not None:
        show(found)
        return
    if password == DEFAULT_PASSWORD and not current_app.debug:
        raise click.ClickException("Change FIRST_SUPERUSER_PASSWORD from its default first.")
    show(accounts.create(email, password, role="root"))
