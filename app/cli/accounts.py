"""`flask accounts …`: create, change and delete accounts."""

from collections.abc import Collection, Sequence
from typing import Any

import click
from flask import current_app

from ..accounts.addresses import read_email, read_phone
from ..accounts.errors import EmailTaken
from ..accounts.models import STATUSES, AccountLike
from ..accounts.passwords import DEFAULT_PASSWORD
from ..accounts.schemas import OwnSchema, load_own, own_fields
from ..accounts.service import Accounts
from ..auth.idp.identities import Identities
from ..auth.limits import AccountUnlock
from ..auth.mfa.authenticators import Authenticators
from ..auth.schemas import account_read
from ..auth.settings import AuthSettings
from ..auth.sign_in.link import SignInLinks
from ..auth.sign_in.sign_out import SignOut
from ..core.context import current_frontdesk, service
from ..core.keystore import MemoryKeystore
from ..core.types import JsonObject
from ..core.web.request_data import schema_instance
from ..workspaces.ownership import Ownership
from .groups import HELP, CommandGroup
from .passwords import ReadPassword, password_options
from .terminal import Record, confirm, json_option, print_record, print_text, yes_option

STATUS_HELP = (
    f"The status: {', '.join(STATUSES)}, or an active status that your application defines."
)
ROLE_HELP = "The role: root, admin, user, or a role of AUTH__ROLES."

group = CommandGroup("accounts", help=HELP["accounts"])


def account_record(account: AccountLike) -> Record:
    record: Record = schema_instance(account_read()).dump(account)
    return record


def print_account(account: AccountLike) -> None:
    print_record(account_record(account))


def check_status(status: str, more: Collection[str] = ()) -> None:
    """Raise BadParameter for an unknown status. Applications can define active statuses."""
    statuses = [*service(Accounts).statuses(), *more]
    if status not in statuses:
        raise click.BadParameter(
            f"{status!r} is not one of {', '.join(statuses)}.", param_hint="--status"
        )


def check_role(role: str) -> None:
    """Raise BadParameter for an unknown role. Applications can define roles."""
    roles = service(Accounts).roles
    if role not in roles:
        raise click.BadParameter(f"{role!r} is not one of {', '.join(roles)}.", param_hint="--role")


def check_contact(email: str | None, phone: str | None, account: AccountLike | None = None) -> None:
    """Raise a Problem for a malformed value, or an email address of another account."""
    if phone:
        read_phone(phone)
    if email and service(Accounts).find(read_email(email)) not in (None, account):
        raise EmailTaken


set_option = click.option(
    "--set",
    "pairs",
    metavar="NAME=VALUE",
    multiple=True,
    help="A column that your application adds to accounts. Repeat the option for several columns.",
)


def read_own(kind: OwnSchema, pairs: Sequence[str], email: str) -> JsonObject:
    """Return the values of `--set`, checked by the application's schema."""
    given = dict(pair.partition("=")[::2] for pair in pairs)
    if unknown := sorted(given.keys() - own_fields(kind).keys()):
        raise click.BadParameter(
            f"Schemas({kind}=…) has no field {', '.join(unknown)}.", param_hint="--set"
        )
    return load_own(kind, given, email)


def print_warnings(password: str) -> None:
    for warning in service(Accounts).passwords.rules.warnings(password):
        click.echo(f"Warning: {warning}", err=True)


@group.command(short_help="Create an account.")
@click.argument("email")
@password_options(required=True)
@click.option("--role", default="user", show_default=True, help=ROLE_HELP)
@click.option("--status", default="active", show_default=True, help=STATUS_HELP)
@click.option("--phone", help="The phone number in international format, such as +15005550006.")
@set_option
@json_option
def create(
    email: str,
    read_password: ReadPassword,
    role: str,
    status: str,
    phone: str | None,
    pairs: Sequence[str],
) -> None:
    """Create an account with the email address EMAIL.

    The command asks for the password if neither --password nor --password-file is given. It emits
    the signal `account-registered`.

    \b
    Examples:
      flask accounts create ada@example.com
      flask accounts create ada@example.com --role admin --password-file password.txt
      flask accounts create ada@example.com --set username=ada
    """
    check_role(role)
    check_status(status)
    check_contact(email, phone)
    own = read_own("registration", pairs, email)
    password = read_password()
    if password is not None:
        print_warnings(password)
    accounts = service(Accounts)
    print_account(accounts.create(email, password, role=role, status=status, phone=phone, **own))


@group.command("set", short_help="Change an account.")
@click.argument("email")
@click.option("--email", "new_email", help="The new email address.")
@click.option("--role", help=ROLE_HELP)
@click.option("--status", help=STATUS_HELP)
@click.option(
    "--phone",
    help="The phone number in international format; an empty value removes the phone number.",
)
@password_options(required=False)
@set_option
@json_option
def change(email: str, read_password: ReadPassword, pairs: Sequence[str], **fields: Any) -> None:
    """Change the account with the email address EMAIL.

    Only the given options change. A new email address or password signs the account out on all
    devices.

    \b
    Examples:
      flask accounts set ada@example.com --status suspended
      flask accounts set ada@example.com --email countess@example.com --role admin
    """
    accounts, new_email = service(Accounts), fields.pop("new_email")
    account = accounts.get(email)
    check_contact(new_email, fields["phone"], account)
    if fields["role"] is not None:
        check_role(fields["role"])
    if fields["status"] is not None:
        check_status(fields["status"])
    own = read_own("account_update", pairs, email)
    password = read_password()
    if password:
        print_warnings(password)
    account = accounts.change(account, email=new_email, password=password, **fields, **own)
    if password:
        service(AccountUnlock).reset(account)
    print_account(account)
    if fields["status"] and not accounts.is_active(account):
        for slug in service(Ownership).without_owner([account.id]):
            click.echo(
                f"Warning: the workspace {slug} has no active owner. Appoint one with `flask"
                f" workspaces add {slug} EMAIL --type owner`.",
                err=True,
            )


@group.command(short_help="Delete an account.")
@click.argument("email")
@yes_option
@json_option
def delete(email: str) -> None:
    """Delete the account with the email address EMAIL and all its data.

    The command prints the deleted account. A deleted account cannot be restored.

    \b
    Examples:
      flask accounts delete ada@example.com
      flask accounts delete ada@example.com --yes
    """
    account = service(Accounts).get(email)
    confirm(f"Delete the account {account.email} and all its data?")
    print_account(account)
    service(Accounts).delete(account)


@group.command(short_help="Unlock an account after failed sign-ins.")
@click.argument("email")
@json_option
def unlock(email: str) -> None:
    """Unlock the account with the email address EMAIL.

    The command resets the account's counters of failed sign-ins and failed MFA codes.

    \b
    Examples:
      flask accounts unlock ada@example.com
    """
    if isinstance(current_frontdesk.keystore, MemoryKeystore):
        raise click.ClickException(
            "The counters are in the server's memory, where this command cannot reset them."
            " Wait until the limit has passed, or restart the server."
        )
    account = service(Accounts).get(email)
    service(AccountUnlock).unlock(account)
    print_account(account)


@group.command("sign-out", short_help="Sign accounts out on all devices.")
@click.argument("email", required=False)
@click.option("--all", "all_accounts", is_flag=True, help="Sign out all accounts.")
@yes_option
@json_option
def sign_out(email: str | None, all_accounts: bool) -> None:
    """Sign the account with the email address EMAIL out on all devices.

    The command revokes all access tokens, refresh tokens and sessions of the account. They stay
    revoked after the next sign-in. With --all, the command asks for confirmation.

    \b
    Examples:
      flask accounts sign-out ada@example.com
      flask accounts sign-out --all
    """
    if all_accounts is (email is not None):
        raise click.UsageError("Give either EMAIL or --all.")
    if email is None:
        confirm("Sign out all accounts? All users must sign in again.")
        print_record({"accounts": service(SignOut).everybody()})
        return
    account = service(Accounts).get(email)
    service(SignOut).by_operator(account)
    print_account(account)


@group.command("sign-in-link", short_help="Print a link that signs an account in.")
@click.argument("email")
@json_option
def sign_in_link(email: str) -> None:
    """Print a link that signs in the account with the email address EMAIL.

    Use the command if the owner's sign-in method is unavailable, such as during an outage of the
    identity provider. The link is valid for ten minutes, and once. MFA applies. The account must be
    active. Verify the owner's identity before you send the link: anyone who has the link can sign
    in.

    \b
    Examples:
      flask accounts sign-in-link ada@example.com
    """
    accounts = service(Accounts)
    account = accounts.get(email)
    if not accounts.is_active(account):
        raise click.ClickException(
            f"The account {account.email} is {account.status}, so no link can sign it in. Activate"
            f" it first: flask accounts set {account.email} --status {accounts.active_status}"
        )
    token = service(SignInLinks).issue(account)
    settings = current_frontdesk.settings
    page = settings.core.page_url(settings.of(AuthSettings).SIGN_IN_LINK_PATH)
    print_text(f"{page}?token={token}", {"link": f"{page}?token={token}"})


@group.command(short_help="Remove links to identity providers.")
@click.argument("email")
@json_option
def unlink(email: str) -> None:
    """Remove the identity provider links of the account with the email address EMAIL.

    The next sign-in through an identity provider links the account again.

    \b
    Examples:
      flask accounts unlink ada@example.com
    """
    account = service(Accounts).get(email)
    service(Identities).unlink(account)
    print_account(account)


@group.command("reset-mfa", short_help="Remove all MFA methods of an account.")
@click.argument("email")
@yes_option
@json_option
def reset_mfa(email: str) -> None:
    """Remove all MFA methods of the account with the email address EMAIL.

    Use the command if the owner has lost all authenticator apps, passkeys and recovery codes. The
    command also signs the account out. The password alone is then enough to sign in: verify the
    owner's identity first.

    \b
    Examples:
      flask accounts reset-mfa ada@example.com
    """
    if not current_frontdesk.provides(Authenticators):
        raise click.ClickException("MFA is disabled: set AUTH__MFA to enable it.")
    account = service(Accounts).get(email)
    confirm(f"Remove all MFA methods of the account {account.email} and sign the account out?")
    service(Authenticators).reset(account)
    print_account(account)


@group.command("ensure-superuser", short_help="Create the first root account.")
@set_option
@json_option
def ensure_superuser(pairs: Sequence[str]) -> None:
    """Create the first root account if it does not exist.

    The command takes the email address and the password from the settings FIRST_SUPERUSER and
    FIRST_SUPERUSER_PASSWORD.

    \b
    Examples:
      flask accounts ensure-superuser
      flask accounts ensure-superuser --set username=root
    """
    settings = current_frontdesk.settings
    email = settings.top_level("FIRST_SUPERUSER")
    password = settings.top_level("FIRST_SUPERUSER_PASSWORD")
    accounts = service(Accounts)
    takes_password = accounts.passwords.enabled
    if not email or (takes_password and not password):
        raise click.ClickException("Set FIRST_SUPERUSER and FIRST_SUPERUSER_PASSWORD.")
    existing = accounts.find(email)
    if existing is not None:
        print_account(existing)
        return
    if takes_password and password == DEFAULT_PASSWORD and not current_app.debug:
        raise click.ClickException(
            "FIRST_SUPERUSER_PASSWORD has its default value. Set another password first."
        )
    own = read_own("registration", pairs, email)
    print_account(accounts.create(email, password if takes_password else None, role="root", **own))
