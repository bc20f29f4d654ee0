"""The command groups, each imported when it is called, so that servers start without them, and how
their commands report errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from flask.cli import AppGroup
from sqlalchemy.exc import DatabaseError, DataError, DBAPIError, IntegrityError, InterfaceError

from ..core.config.environment import SettingsError
from ..core.errors import Problem, SetupError
from ..core.process.folders import migrations_folder
from ..core.web.problems import translate

if TYPE_CHECKING:
    from flask import Flask
    from flask_sqlalchemy import SQLAlchemy

    from ..core.context import Context


class ReportingCommand(click.Command):
    """Report an expected error, or a database that cannot be used, in one sentence."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except Problem as problem:
            raise click.ClickException(_text_of(problem, ctx.params)) from None
        except (SettingsError, SetupError) as error:
            raise click.ClickException(str(error)) from None
        except (DatabaseError, InterfaceError) as error:
            raise click.ClickException(_database_error(error)) from None


class CommandGroup(AppGroup):
    command_class = ReportingCommand


# Errors by their codes, with the values of the command line, which responses do not repeat.
_TEXTS = {
    "account_not_found": "No account has the email address {email}.",
    "email_taken": "An account with the email address {new_email} already exists.",
    "invalid_email": "{new_email} is not a valid email address.",
    "invalid_phone": "{phone} is not a phone number in international form, such as +15005550006.",
    "member_not_found": "{email} is not a member of the workspace {slug}.",
    "slug_taken": "A workspace with the slug {slug} already exists.",
    "workspace_not_found": "No workspace has the slug {slug}.",
}


def _text_of(problem: Problem, given: Mapping[str, Any]) -> str:
    given = {**given, "new_email": given.get("new_email") or given.get("email")}
    # Commands such as `ensure-superuser` take no values.
    with suppress(KeyError):
        return _TEXTS[problem.code].format_map(given)
    fields = [f"{fault.field}: {fault.message}" for fault in problem.faults]
    return " ".join(fields) or problem.detail


def _database_error(error: DBAPIError) -> str:
    reason = str(error.orig).splitlines()[0]
    if isinstance(error, (DataError, IntegrityError)):
        return f"The database rejected the change: {reason}."
    if (problem := translate(error)) is not None:
        return f"{problem.detail}: {reason}"
    return f"{reason}. If the database is not migrated yet, run `flask db upgrade`."


class LazyGroup(click.Group):
    """Load a group of commands when one of its commands is called or listed."""

    def __init__(self, name: str, about: str, load: Callable[[], click.Group]) -> None:
        super().__init__(name, help=about)
        self._load = load

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        return self._load().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._load().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._load().get_command(ctx, cmd_name)


# `flask --help` prints these sentences without importing a group.
HELP = {
    "accounts": "Create, list, change, delete, import and export accounts.",
    "auth": "Manage the keys that sign access tokens.",
    "frontdesk": "Check and maintain this installation.",
    "mail": "Preview and test emails.",
    "notifications": "Monitor, retry and prune notifications.",
    "profiles": "Delete unused profile pictures.",
    "workspaces": "Create workspaces and manage their members.",
}
# Groups that an application without an account model has.
WITHOUT_ACCOUNTS = ("accounts", "frontdesk", "mail")
# `transfer` adds its commands to the group of `accounts`.
_MODULES = {"accounts": "transfer"}


def lazy_group(name: str) -> LazyGroup:
    def load() -> click.Group:
        group: click.Group = import_module(f".{_MODULES.get(name, name)}", __package__).group
        return group

    return LazyGroup(name, HELP[name], load)


# The command of the installed package, which `flask` has even if the application cannot be loaded.
frontdesk = lazy_group("frontdesk")


def add_commands(context: Context) -> None:
    """Add the groups of the features that the application has. Its own groups take precedence."""
    has_accounts = context.tables.account_model is not None
    for name in HELP if has_accounts else WITHOUT_ACCOUNTS:
        if name not in context.app.cli.commands:
            context.app.cli.add_command(lazy_group(name))


def migrations(app: Flask, db: SQLAlchemy) -> LazyGroup:
    """Return `flask db …`, Flask-Migrate's group, which imports Alembic when it is called."""

    def load() -> click.Group:
        from flask_migrate import Migrate
        from flask_migrate.cli import db as group

        if "migrate" not in app.extensions:
            Migrate(app, db, directory=str(migrations_folder()))
        commands: click.Group = group
        return commands

    return LazyGroup("db", "Perform database migrations.", load)
