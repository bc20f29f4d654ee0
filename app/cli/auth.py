"""`flask auth keys …`: the keys that sign access tokens."""

import click

from ..auth.settings import AuthSettings
from ..auth.tokens.key_file import KeyFile
from ..auth.tokens.signing_keys import ALGORITHMS, SigningKeys
from ..auth.tokens.well_known import CACHE_SECONDS
from ..core.context import current_frontdesk, service
from .groups import HELP, CommandGroup
from .terminal import Record, confirm, json_option, print_record, print_records, yes_option

group = CommandGroup("auth", help=HELP["auth"])

_RELOAD = "Reload the service."
_PUBLISH = (
    "Reload the service to publish the key, and wait {} seconds, for which other services cache"
    " the keys. Then run `flask auth keys first {}`, and reload the service again."
)


@group.group("keys", cls=CommandGroup, short_help="Create, list and retire signing keys.")
def keys() -> None:
    """Create, list and retire the keys of AUTH__SIGNING_KEYS."""


@keys.command(short_help="Create a signing key.")
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default=ALGORITHMS[0],
    show_default=True,
    help="Algorithm of the key.",
)
@click.option("--first", is_flag=True, help="Sign with the key at once.")
@json_option
def new(algorithm: str, first: bool) -> None:
    """Create a key in the file of AUTH__SIGNING_KEYS, and the file if it does not exist.

    The first key of the file signs. A new key is the last one, so that it is published before it
    signs: other services cache the published keys.

    \b
    Examples:
      flask auth keys new
      flask auth keys new --algorithm EdDSA
    """
    kid = KeyFile(_keys()).add(algorithm, first=first)
    signs = _print_key(kid)
    click.echo(_RELOAD if signs else _PUBLISH.format(CACHE_SECONDS, kid), err=True)


@keys.command(short_help="Sign with a published key.")
@click.argument("kid")
@json_option
def first(kid: str) -> None:
    """Put the key KID first, so that it signs after a reload.

    \b
    Examples:
      flask auth keys first NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs
    """
    KeyFile(_keys()).put_first(kid)
    _print_key(kid)
    click.echo(_RELOAD, err=True)


@keys.command("list", short_help="List the signing keys.")
@json_option
def list_keys() -> None:
    """List the signing keys. The first key signs, all keys verify.

    \b
    Examples:
      flask auth keys list
    """
    print_records(_rows(), ("kid", "algorithm", "signs"), "There are no keys.")


@keys.command(short_help="Remove a signing key.")
@click.argument("kid")
@yes_option
@json_option
def retire(kid: str) -> None:
    """Remove the key KID. After a reload, the tokens that it signed are rejected.

    The key that signs cannot be removed.

    \b
    Examples:
      flask auth keys retire NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs
    """
    minutes = current_frontdesk.settings.of(AuthSettings).ACCESS_TOKEN_EXPIRE_MINUTES
    confirm(f"Tokens that this key signed live {minutes} minutes. Retire the key?")
    KeyFile(_keys()).remove(kid)
    print_record({"kid": kid, "tokens_live_minutes": minutes})
    click.echo(
        f"Reload the service {minutes} minutes after the key has last signed: until then, tokens"
        " that the key signed are in use.",
        err=True,
    )


def _rows() -> list[Record]:
    found = _keys().read()
    return [{"kid": key.kid, "algorithm": key.algorithm, "signs": key is found[0]} for key in found]


def _print_key(kid: str) -> bool:
    """Print the key, and return whether it signs."""
    row = next(row for row in _rows() if row["kid"] == kid)
    print_record(row)
    return bool(row["signs"])


def _keys() -> SigningKeys:
    if not current_frontdesk.settings.of(AuthSettings).SIGNING_KEYS:
        raise click.ClickException("AUTH__SIGNING_KEYS is not set: set it to the path of a file.")
    return service(SigningKeys)
