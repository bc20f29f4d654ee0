"""Runs Alembic on the application's engine; called by `env.py`, also of applications."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from flask import current_app
from sqlalchemy import Connection, False_, True_, text

from ..errors import SetupError
from ..types import JsonObject
from .base import UtcDateTime
from .first_schema import adopt_first_schema, drop_former_names

MIGRATION_LOCK = 7_305_731_402
LOCK_RETRY_SECONDS = 0.1


def run_migrations() -> None:
    """Run the migrations of Flask-Migrate, on SQLite without enforcing foreign keys.

    Call it in the `env.py` of your migrations, which needs no other code.

    Example::

        from flask_frontdesk import run_migrations

        run_migrations()
    """
    # Imported here, because a server does not need Alembic.
    from alembic import context

    migrate: Any = current_app.extensions["migrate"]
    metadata = current_app.extensions["frontdesk"].metadata
    with migrate.db.engine.connect() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        with (_sqlite if is_sqlite else _postgresql)(connection) as prepared:
            options: JsonObject = {
                "render_item": render_item,
                "process_revision_directives": _skip_empty_migration,
                "render_as_batch": True,
                "compare_type": True,
                **migrate.configure_args,
            }
            if _has_our_history(context.script):
                options.setdefault("include_object", _is_compared)
            context.configure(
                connection=prepared,
                target_metadata=metadata,
                transaction_per_migration=True,
                transactional_ddl=True,
                **options,
            )
            if current_app.extensions["frontdesk"].owns_application:
                _prepare_schema(prepared, context)
            with context.begin_transaction():
                context.run_migrations()


def _prepare_schema(connection: Connection, context: Any) -> None:
    """Prepare an upgrade or a downgrade of the service's own database."""
    migration = context.get_context()
    command = getattr(migration.opts.get("fn"), "__name__", "")
    if command not in ("upgrade", "downgrade") or context.is_offline_mode():
        return
    if not adopt_first_schema(connection):
        heads = set(migration.get_current_heads())
        if command == "downgrade" or heads != set(context.script.get_heads()):
            drop_former_names(connection)


def _has_our_history(scripts: Any) -> bool:
    return any("frontdesk" in script.branch_labels for script in scripts.walk_revisions())


def _is_compared(
    _object: object, name: str | None, kind: str, reflected: bool, model: object
) -> bool:
    """Ignore tables of features that the application does not mount: our migrations create all."""
    unknown = kind == "table" and reflected and model is None
    return not (unknown and str(name).startswith("frontdesk_"))


def _skip_empty_migration(context: Any, _revision: Any, directives: list[Any]) -> None:
    """Have `flask db migrate` write no migration if nothing has changed."""
    command = getattr(context.config, "cmd_opts", None)
    if getattr(command, "autogenerate", False) and directives[0].upgrade_ops.is_empty():
        directives.clear()


def render_item(kind: str, item: object, context: object) -> str | Literal[False]:
    """Render Frontdesk's column types as SQLAlchemy's own in generated migrations.

    A generated migration then does not import Frontdesk, and runs on SQLite and PostgreSQL,
    whichever of them it was generated on.

    Args:
        kind: Kind of the item, such as `type` or `server_default`.
        item: The item.
        context: Alembic's autogenerate context.

    Returns:
        The code of the item, or False for Alembic's own rendering.

    Example::

        Migrate(app, db, render_item=flask_frontdesk.render_item)
    """
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "server_default":
        # Alembic renders the literal of the database at hand; PostgreSQL rejects SQLite's 0.
        match getattr(item, "arg", None):
            case False_():
                return "sa.false()"
            case True_():
                return "sa.true()"
    return False


@contextmanager
def _sqlite(connection: Connection) -> Iterator[Connection]:
    """Run all migrations in one explicit transaction: the driver begins one only to write rows.

    Foreign keys are off, because a table is changed by copying it, and dropping the old table would
    delete the rows that refer to it.
    """
    driver: Any = connection.connection.dbapi_connection
    connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
    connection.commit()
    isolation_level, driver.isolation_level = driver.isolation_level, None
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
        connection.commit()
    finally:
        connection.rollback()
        driver.isolation_level = isolation_level
        connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        connection.commit()


@contextmanager
def _postgresql(connection: Connection) -> Iterator[Connection]:
    """Take a lock: if several machines start at once, one migrates and the others wait.

    Statements have no timeout (postgres.py), because an index on a large table takes long. The lock
    is polled: CREATE INDEX CONCURRENTLY waits for open statements, so a process that waited inside
    the database would cause a deadlock.

    Raises SetupError behind a pooler in transaction mode, which would keep the lock.
    """
    from .pooler import pooler_problem  # imports the driver
    from .postgres import statement_timeout

    if problem := pooler_problem(connection.engine):
        raise SetupError(f"{problem}. Migrations hold a lock that belongs to a session.")
    connection = connection.execution_options(isolation_level="READ COMMITTED")
    with statement_timeout(connection, None):
        take = text("SELECT pg_try_advisory_lock(:key)")
        while not connection.scalar(take, {"key": MIGRATION_LOCK}):
            connection.commit()
            time.sleep(LOCK_RETRY_SECONDS)
        connection.commit()
        try:
            yield connection
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()
