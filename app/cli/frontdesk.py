"""`flask frontdesk …`: settings and maintenance of an installation, and its first root."""

import secrets
from dataclasses import asdict

import click

from ..auth.mfa.reencryption import Reencryption
from ..console.first_run.first_root import FirstRoot, RootExists
from ..core.config.settings import DERIVED, IN_CODE, IN_CONFIG
from ..core.context import Pruner, current_frontdesk, find_context, service
from ..core.db.search_indexes import create_search_indexes
from ..core.doctor import Finding
from ..core.keystore import DatabaseKeystore
from ..doctor.checks import find_problems
from ..extension.origins import Setting, settings_of
from .groups import HELP, CommandGroup
from .migrations import group as migrations
from .terminal import Record, json_option, print_record, print_records, print_text, progress

group = CommandGroup("frontdesk", help=HELP["frontdesk"])
group.add_command(migrations)


@group.command(short_help="Check the configuration and the servers.")
@json_option
def doctor() -> None:
    """Check the configuration and the servers that it names.

    The command prints errors and warnings. The exit code is 1 if a check finds an error.

    \b
    Examples:
      flask frontdesk doctor
      flask frontdesk doctor --json
    """
    found = find_problems()
    errors = [finding for finding in found if finding.level == "fault"]
    lines = [f"{_level(finding):8}{finding.check}: {finding.message}" for finding in found]
    total = f"{_count(len(errors), 'error')}, {_count(len(found) - len(errors), 'warning')}"
    print_text(
        "\n".join([*lines, total]),
        {"ok": not errors, "findings": [finding._asdict() for finding in found]},
    )
    if errors:
        raise SystemExit(1)


def _level(finding: Finding) -> str:
    return "error" if finding.level == "fault" else finding.level


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# The names of the sources that operators do not know from the code.
_SOURCES = {IN_CONFIG: "app.config", IN_CODE: "Python", DERIVED.source: "other settings"}


@group.command(short_help="Print the settings and their sources.")
@json_option
def config() -> None:
    """Print the settings in force, and where each setting comes from.

    The sources are: environment, .env, app.config, Python (a settings object), other settings, and
    default. The last column names the variable, the key or the class. A secret is printed as `set`.

    \b
    Examples:
      flask frontdesk config
      flask frontdesk config --json
    """
    found = (each for space in settings_of(find_context()) for each in space.settings)
    print_records(map(_row, found), ("name", "value", "source", "where"), "There are no settings.")


def _row(setting: Setting) -> Record:
    value = "set" if setting.is_secret and setting.value else setting.value
    source = _SOURCES.get(setting.origin, setting.origin)
    name, where = setting.name, setting.where or None
    return {"name": name, "value": value or None, "source": source, "where": where}


@group.command("generate-key", short_help="Print a new random key.", with_appcontext=False)
@json_option
def generate_key() -> None:
    """Print a new random key for SECRET_KEY or AUTH__ENCRYPTION_KEYS.

    The key has 384 random bits. The command needs no application and no valid settings.

    \b
    Examples:
      flask frontdesk generate-key
    """
    key = secrets.token_urlsafe(48)
    print_text(key, {"key": key})


KEYSTORE_BATCH = 1_000


@group.command(short_help="Delete expired data.")
@json_option
def prune() -> None:
    """Delete expired data and print the numbers of deleted rows and files.

    Expired data are: entries of the state store, unused profile pictures, old notifications,
    invitations, email changes, data exports, audit log entries, sessions, personal tokens,
    workspace tokens, unconfirmed authenticator apps, trusted devices, accounts with an email
    address that was not verified in time, and accounts with a requested deletion. Run the command
    once a day.

    \b
    Examples:
      flask frontdesk prune
    """
    pruners = [Pruner("keystore_entries", _prune_keystore)]
    pruners += current_frontdesk.all_contributions(Pruner)
    report = {}
    with progress("Pruning", lambda: len(pruners)) as advance:
        for pruner in pruners:
            report[pruner.name] = pruner.prune()
            advance(1)
    print_record(report)


def _prune_keystore() -> int:
    keystore = current_frontdesk.keystore
    count = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            count += batch
    return count


@group.command(short_help="Encrypt all MFA secrets with the first key.")
@json_option
def reencrypt() -> None:
    """Encrypt all MFA secrets with the first key of AUTH__ENCRYPTION_KEYS.

    Remove the older keys from the setting afterwards. An interrupted run can be repeated. The exit
    code is 1 if a secret could not be decrypted.

    \b
    Examples:
      flask frontdesk reencrypt
    """
    if not current_frontdesk.provides(Reencryption):
        raise click.ClickException("MFA is disabled: set AUTH__MFA to enable it.")
    reencryption = service(Reencryption)
    with progress("Encrypting", reencryption.count) as advance:
        report = reencryption.run(advance)
    print_record(asdict(report))
    if report.unreadable:
        raise SystemExit(1)


@group.command("index-search", short_help="Create the indexes for the account search.")
@json_option
def index_search() -> None:
    """Create the indexes for the search of accounts, also on your application's accounts table.

    On PostgreSQL, the command enables the extension pg_trgm, so that the search finds parts of
    names, email addresses and phone numbers. Without the extension, and on SQLite, the indexes
    find the start. The indexes are created while the application runs.

    \b
    Examples:
      flask frontdesk index-search
    """
    context = find_context()
    metadata, model = context.metadata, context.tables.account_model
    with context.db.engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            # Imported here, because SQLite needs no driver.
            from ..core.db.postgres import statement_timeout

            with statement_timeout(connection, None):
                finds_parts = create_search_indexes(connection, metadata, model)
        else:
            finds_parts = create_search_indexes(connection, metadata, model)
            connection.commit()
    found = "a part" if finds_parts else "the start"
    print_text(
        f"The search finds {found} of a name, email address or phone number.",
        {"finds_parts": finds_parts},
    )


@group.command("first-root", short_help="Print a link to create the first root.")
@json_option
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
    link = first.link()
    print_text(link, {"link": link})
    if link.startswith("/"):
        click.echo(
            "Open this path at the URL of your server, or set CORE__PUBLIC_URL for a full link.",
            err=True,
        )
