"""Checks of the application, its database object and its account model at `init_app`.

Each check raises SetupError with the fix; without it, a later error would be misleading.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flask import Flask
from sqlalchemy import MetaData, Table, inspect

from ..accounts.mapping import how_to_map, how_to_name_the_key, how_to_store_status
from ..accounts.models import OWNER_FIELDS, is_mapped
from ..accounts.own_columns import frontdesk_names, required_columns
from ..core.config.settings import LoadedSettings
from ..core.context import EXTENSION
from ..core.db.account_ids import INTEGER_IDS, IdKind, id_kind_of
from ..core.db.session import Database, is_lite
from ..core.errors import SetupError
from ..core.types import AccountModel

if TYPE_CHECKING:
    from marshmallow import Schema

    from .options import Schemas

log = logging.getLogger(__name__)

DATABASES = ("sqlite", "postgresql")


def check_application(app: Flask, db: Database) -> None:
    if not hasattr(db, "init_app"):
        raise SetupError(
            "frontdesk.init_app takes the SQLAlchemy object of Flask-SQLAlchemy or"
            f" Flask-SQLAlchemy-Lite, not {type(db).__name__}. With an engine or a sessionmaker of"
            " your own, use Flask-SQLAlchemy-Lite next to it: from flask_sqlalchemy_lite import"
            ' SQLAlchemy; db = SQLAlchemy(); app.config["SQLALCHEMY_ENGINES"] = {"default":'
            " engine.url}; db.init_app(app); frontdesk.init_app(app, db, account_model=...)."
        )
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


def check_account_model(model: AccountModel | None, db: Database) -> type[Any] | None:
    """Return the model if it can be used. Without one, mounting routes with accounts raises."""
    if model is None or not is_mapped(model):
        return None
    if advice := how_to_map(model) or how_to_store_status(model):
        raise SetupError(advice)
    if not is_lite(db) and model.metadata is not metadata_of(db, model):
        raise SetupError(
            f"The account model {model.__name__} is in another metadata than db.Model, where"
            " Frontdesk's tables refer to it: derive it from db.Model, and give it no __bind_key__."
        )
    table = inspect(model).local_table
    if not isinstance(table, Table):
        raise SetupError(
            f"The account model {model.__name__} is not stored in one table, which"
            " Frontdesk's tables refer to."
        )
    if len(table.primary_key.columns) != 1:
        raise SetupError(
            f"The account model {model.__name__} has a primary key of several columns:"
            " Frontdesk's tables need a single column."
        )
    if advice := how_to_name_the_key(model):
        raise SetupError(advice)
    id_kind(model)
    return model


def id_kind(model: AccountModel | None) -> IdKind:
    if model is None:
        return INTEGER_IDS
    [key] = inspect(model).primary_key
    kind = id_kind_of(key.type)
    if kind is None:
        raise SetupError(
            f"The account model {model.__name__} has an id of type {key.type!r}: Frontdesk supports"
            " integers, UUIDs and strings (a custom type declares which by its python_type)."
        )
    return kind


def metadata_of(db: Database, account_model: AccountModel | None) -> MetaData:
    """Return the metadata of the application's tables, which Frontdesk's are added to."""
    known: Any = db if not is_lite(db) else account_model
    if known is None:
        raise SetupError(
            "A database object of Flask-SQLAlchemy-Lite has no metadata: pass account_model=, and"
            " Frontdesk's tables are added to its metadata."
        )
    found: MetaData = known.metadata
    return found


def check_settings(given: object) -> None:
    if isinstance(given, Mapping):
        raise SetupError(
            "frontdesk.init_app was given a mapping as settings=: it takes an object with the"
            ' settings as attributes; a mapping has its place in app.config["FRONTDESK"].'
        )


def check_proxies(settings: LoadedSettings) -> None:
    """Raise for a setting that only the service applies."""
    if hops := settings.core.TRUSTED_PROXIES:
        raise SetupError(
            "CORE__TRUSTED_PROXIES is a setting of the service and has no effect in an application:"
            " remove it, and write below your Flask(...): from werkzeug.middleware.proxy_fix import"
            f" ProxyFix; app.wsgi_app = ProxyFix(app.wsgi_app, x_for={hops}, x_proto={hops})"
        )


def check_schemas(schemas: Schemas, model: AccountModel | None) -> dict[str, type[Schema]]:
    given = {name: schema for name, schema in schemas._asdict().items() if schema is not None}
    if given:
        # Imported here, because most applications give no schemas.
        from marshmallow import Schema

        from ..auth.schemas import LoginRead
    for name, schema in given.items():
        if not (isinstance(schema, type) and issubclass(schema, Schema)):
            raise SetupError(
                f"frontdesk.init_app was given Schemas({name}={schema!r}): it takes a class derived"
                " from marshmallow.Schema, without parentheses."
            )
        if name == "login" and not issubclass(schema, LoginRead):
            raise SetupError(
                f"The login schema {schema.__name__} would respond without a token: derive it from"
                " flask_frontdesk.LoginRead."
            )
    if model is not None:
        _check_own_fields(given, model)
    return given


def _check_own_fields(given: Mapping[str, type[Schema]], model: AccountModel) -> None:
    """Raise for a field that would let everyone set a column of Frontdesk, and warn of a required
    column that no field sets."""
    for name in ("registration", "account_update"):
        declared = given[name]._declared_fields if name in given else {}
        columns = {field.attribute or key for key, field in declared.items()} - {"email"}
        if taken := sorted(columns & frontdesk_names(model) - OWNER_FIELDS):
            raise SetupError(
                f"The schema {given[name].__name__}, Schemas({name}=…), has fields with the names"
                f" of Frontdesk's columns, which it cannot set: {', '.join(taken)}. Rename"
                " the fields."
            )
    registration = given["registration"]._declared_fields if "registration" in given else {}
    if empty := [name for name in required_columns(model) if name not in registration]:
        log.warning(
            "The account model %s requires a value in columns that nothing sets: %s. Only"
            " frontdesk.accounts.create in your code can create an account, such as in a listener"
            " of idp-account-create. Declare the columns in Schemas(registration=…), make them"
            " nullable, or give them a default.",
            model.__name__,
            ", ".join(empty),
        )
