"""`flask db …`, loaded when it is called: Alembic has no place in a server's start."""

from __future__ import annotations

from typing import Any

import click
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from ..core.folders import migrations_folder


class Migrations(click.Group):
    """Stands in for Flask-Migrate's group, and gives way to it when called."""

    def __init__(self, app: Flask, db: SQLAlchemy) -> None:
        super().__init__("db", help="Bring the database's schema up or down.")
        self._app = app
        self._db = db

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        from flask_migrate import Migrate
        from flask_migrate.cli import db as group

        if "migrate" not in self._app.extensions:
            Migrate(self._app, self._db, directory=str(migrations_folder()))
        context: click.Context = group.make_context(info_name, args, parent, **extra)
        return context
