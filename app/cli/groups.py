"""The groups of commands, each loaded when it is called: a server's start has no use for them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import click

from ..core.process.folders import migrations_folder

if TYPE_CHECKING:
    from flask import Flask
    from flask_sqlalchemy import SQLAlchemy


class LazyGroup(click.Group):
    """Stands in for a group of commands, and gives way to it when called or listed."""

    def __init__(self, name: str, load: Callable[[], click.Group]) -> None:
        super().__init__(name)
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

    def get_short_help_str(self, limit: int = 45) -> str:
        return self._load().get_short_help_str(limit)


# The module of each group; another module may add to it, and is loaded in its place.
_MODULES = {"accounts": "transfer"}


def lazy_group(name: str) -> LazyGroup:
    def load() -> click.Group:
        group: click.Group = import_module(f".{_MODULES.get(name, name)}", __package__).group
        return group

    return LazyGroup(name, load)


def migrations(app: Flask, db: SQLAlchemy) -> LazyGroup:
    """`flask db …`: Flask-Migrate's own group. Alembic has no place in a server's start."""

    def load() -> click.Group:
        from flask_migrate import Migrate
        from flask_migrate.cli import db as group

        if "migrate" not in app.extensions:
            Migrate(app, db, directory=str(migrations_folder()))
        commands: click.Group = group
        return commands

    return LazyGroup("db", load)
