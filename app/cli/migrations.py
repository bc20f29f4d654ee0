"""`flask db …`, loaded when it is called: Alembic has no place in a server's start."""

from __future__ import annotations

import click
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from ..core.process.folders import migrations_folder
from .groups import LazyGroup


def migrations(app: Flask, db: SQLAlchemy) -> LazyGroup:
    """Flask-Migrate's own group, and the extension that it works with."""

    def load() -> click.Group:
        from flask_migrate import Migrate
        from flask_migrate.cli import db as group

        if "migrate" not in app.extensions:
            Migrate(app, db, directory=str(migrations_folder()))
        commands: click.Group = group
        return commands

    return LazyGroup("db", load)
