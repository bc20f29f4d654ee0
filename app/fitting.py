"""What an application, its database object and its account model must be for Frontdesk to fit.

Each thing that is missing or in the wrong order is told at the start, in a sentence that says how
to mend it: the errors that would come of it later speak of something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Integer, Table, inspect

from .accounts.models import AccountMixin, is_mapped
from .core.database import Base
from .core.desk import EXTENSION
from .core.errors import SetupError

if TYPE_CHECKING:
    from marshmallow import Schema

TABLE = "accounts"
DATABASES = ("sqlite", "postgresql")
_BASE = "SQLAlchemy(model_class=flask_frontdesk.Base)"


def check_application(app: Flask, db: SQLAlchemy) -> None:
    if "sqlalchemy" not in app.extensions:
        raise SetupError("Call db.init_app(app) before frontdesk.init_app(app, db).")
    if app.extensions["sqlalchemy"] is not db:
        raise SetupError(
            "frontdesk.init_app was given another SQLAlchemy object than the one of the"
            " application: make one, call its init_app(app), and pass the same one."
        )
    if EXTENSION in app.extensions:
        raise SetupError("frontdesk.init_app was called twice for this application: call it once.")
    with app.app_context():
        database = db.engine.dialect.name
    if database not in DATABASES:
        raise SetupError(f"Frontdesk works on SQLite and PostgreSQL, and not on {database}.")
    if db.metadatas[None] is not Base.metadata:
        raise SetupError(
            f"The database object does not know Frontdesk's tables: make it with {_BASE}."
        )


def check_account_model(model: type[Any] | None) -> type[Any] | None:
    """The model, or None where there is none to use: its routes say so when they are mounted."""
    if model is None or not is_mapped(model):
        return None
    lacking = [name for name in _needed() if not hasattr(model, name)]
    if lacking:
        raise SetupError(
            f"The account model {model.__name__} lacks {', '.join(lacking)}:"
            " add flask_frontdesk.AccountMixin to its bases."
        )
    if model.metadata is not Base.metadata:
        raise SetupError(
            f"The account model {model.__name__} is in another metadata than Frontdesk's tables,"
            f" which refer to it: derive it from db.Model, with db = {_BASE} and no __bind_key__."
        )
    table = inspect(model).local_table
    if not isinstance(table, Table) or table.name != TABLE or table.schema is not None:
        raise SetupError(
            f"The account model {model.__name__} is kept in {table.description!r}: Frontdesk's"
            f' tables refer to "{TABLE}", so set __tablename__ = "{TABLE}".'
        )
    if not isinstance(table.c["id"].type, Integer):
        raise SetupError(
            f"The account model {model.__name__} has an id of type {table.c['id'].type}:"
            " Frontdesk's tables refer to a whole number."
        )
    return model


def check_settings(given: object) -> None:
    if isinstance(given, Mapping):
        raise SetupError(
            "frontdesk.init_app was given a mapping as settings=: it takes an object with the"
            " settings as attributes, and reads app.config only for SECRET_KEY and MAIL_…."
        )


def check_name(decorator: str, name: object) -> None:
    """Bare, without its name, the decorator would take the function for one and forget it."""
    if not isinstance(name, str):
        raise SetupError(f'@frontdesk.{decorator} takes a name: @frontdesk.{decorator}("…")')


def check_schemas(**given: type[Schema] | None) -> dict[str, type[Schema]]:
    """Those that were given."""
    schemas = {name: schema for name, schema in given.items() if schema is not None}
    if schemas:
        # A host that gives none need not load it at its start.
        from marshmallow import Schema
    for name, schema in schemas.items():
        if not (isinstance(schema, type) and issubclass(schema, Schema)):
            raise SetupError(
                f"frontdesk.init_app was given {name}={schema!r}: it takes a class derived from"
                " marshmallow.Schema, without parentheses."
            )
    return schemas


def check_statuses(given: Sequence[str] | None) -> None:
    """A word is a sequence of letters, and each of them would be a status."""
    if isinstance(given, str):
        raise SetupError(
            f'frontdesk.init_app was given active_statuses="{given}": it takes a list, ["{given}"].'
        )


def _needed() -> list[str]:
    columns = (name for name in AccountMixin.__annotations__ if not name.startswith("__"))
    return [name for name in columns if name != "last_login_date"]
