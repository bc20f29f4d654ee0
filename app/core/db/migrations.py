"""Runs Alembic on the application's engine; called by `env.py`, also of applications."""

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Literal

import click
from flask import current_app
from sqlalchemy import Connection, False_, True_, column, table, text

from ..errors import SetupError
from ..process.folders import migrations_folder
from ..types import JsonObject
from .base import UtcDateTime
from .revisions import refuse_replaced
from .search_indexes import search_index_names
from .short_locks import connect_directly, repeat_until_locked

MIGRATION_LOCK = 7_305_731_402
LOCK_RETRY_SECONDS = 0.1
_PARTITIONS = text(
    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE relispartition"
)
Partitions = Callable[[], frozenset[str]]


def run_migrations() -> None:
    """Run the migrations of Flask-Migrate, on SQLite without enforcing foreign keys.

    Call it in the `env.py` of your migrations, which needs no other code.

    Raises:
        SetupError: The application has no Frontdesk, or `flask db merge` would merge Frontdesk's
            history with yours.

    Example::

        from flask_frontdesk import run_migrations

        run_migrations()
    """
    # Imported here, because a server does not need Alembic.
    from alembic import context

    # The search has such an index on SQLite.
    warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index")
    _check_history(context.script)
    migrate: Any = current_app.extensions["migrate"]
    metadata = current_app.extensions["frontdesk"].metadata
    with connect_directly(migrate.db.engine) as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        with (_sqlite if is_sqlite else _postgresql)(connection) as prepared:
            options: JsonObject = {
                "render_item": render_item,
                "process_revision_directives": _finish_migration,
                "render_as_batch": True,
                "compare_type": True,
                **migrate.configure_args,
            }
            finish = options["process_revision_directives"]
            options["process_revision_directives"] = partial(_write_own, finish)
            has_our_history = _has_our_history(context.script)
            is_compared = _is_compared if has_our_history else _is_in_models
            accounts = current_app.extensions["frontdesk"].accounts_in_migrations.name
            indexes = search_index_names(metadata, accounts)
            partitions = cache(partial(_partitions, prepared))
            options.setdefault("include_object", partial(is_compared, indexes, partitions))
            options.setdefault("on_version_apply", partial(_explain_search_indexes, indexes))
            context.configure(
                connection=prepared,
                target_metadata=metadata,
                transaction_per_migration=True,
                transactional_ddl=True,
                **options,
            )
            if has_our_history:
                _check_recorded(prepared, context)
            owns_application = current_app.extensions["frontdesk"].owns_application
            if is_sqlite or not owns_application or not _is_repeatable(context):
                _run(context)
            else:
                repeat_until_locked(prepared, lambda: _run(context))


def _run(context: Any) -> None:
    with context.begin_transaction():
        context.run_migrations()


def _is_repeatable(context: Any) -> bool:
    """Return whether the command can run again after some of its migrations were applied: several
    steps up or down would be counted from another revision."""
    target = str(context.get_context().opts.get("destination_rev"))
    return not context.is_offline_mode() and not re.search(r"(^|@)[+-](?!1$)", target)


def _check_recorded(connection: Connection, context: Any) -> None:
    """Refuse a revision that our first migration replaces: Alembic would take it for that one,
    because it is one of its branch labels."""
    migration = context.get_context()
    heads = set(migration.get_current_heads())
    named = {str(migration.opts.get(each)) for each in ("starting_rev", "destination_rev")}
    refuse_replaced(heads | named, migrations_folder())
    command = getattr(migration.opts.get("fn"), "__name__", "")
    if command in ("upgrade", "downgrade") and not context.is_offline_mode():
        _forget_implied(connection, context, heads)
    if connection.dialect.name == "postgresql":
        # Each attempt to lock a table is a separate transaction.
        connection.commit()


def _forget_implied(connection: Connection, context: Any, heads: set[str]) -> None:
    """Delete recorded revisions on which another recorded revision depends. Alembic records none,
    and rejects a database with one; an application's migration that depended on one of the replaced
    revisions depends on our first migration now."""
    migration, scripts = context.get_context(), context.script
    for head in heads:
        below = {each.revision for each in scripts.iterate_revisions(head, "base")} - {head}
        versions = table(
            migration.version_table, column("version_num"), schema=migration.version_table_schema
        )
        if implied := below & heads:
            connection.execute(versions.delete().where(versions.c.version_num.in_(implied)))


def _check_history(scripts: Any) -> None:
    """Raise SetupError without Frontdesk, and for `flask db merge` of its history: its branch label
    would name a migration of the application, which may be written into the installed package."""
    if "frontdesk" not in current_app.extensions:
        raise SetupError(
            f"The application {current_app.name} has no Frontdesk, but its env.py calls"
            " run_migrations(): call frontdesk.init_app(app, db) where the application is created,"
            " or restore the env.py that `flask db init` writes."
        )
    command = click.get_current_context(silent=True)
    if command is None or command.info_name != "merge":
        return
    merged = scripts.get_revisions(command.params["revisions"])
    if others := [each.revision for each in merged if not _is_own(Path(each.path))]:
        raise SetupError(
            f"{', '.join(others)} belongs to Frontdesk's history, which stays separate from yours:"
            " run `flask db upgrade heads`. To merge your own branches, name them:"
            " `flask db merge REVISION REVISION`."
        )


def _has_our_history(scripts: Any) -> bool:
    return any("frontdesk" in script.branch_labels for script in scripts.walk_revisions())


def _partitions(connection: Connection) -> frozenset[str]:
    """Return the names of all partitions, which are in no models."""
    if connection.dialect.name != "postgresql":
        return frozenset()
    return frozenset(connection.scalars(_PARTITIONS))


def _is_compared(
    search_indexes: set[str],
    partitions: Partitions,
    found: object,
    name: str | None,
    kind: str,
    reflected: bool,
    model: object,
) -> bool:
    """Ignore tables of features that the application does not mount: our migrations create all."""
    unknown = kind == "table" and reflected and model is None
    is_unused = unknown and str(name).startswith("frontdesk_")
    return not is_unused and _is_in_models(
        search_indexes, partitions, found, name, kind, reflected, model
    )


def _is_in_models(
    search_indexes: set[str],
    partitions: Partitions,
    _object: object,
    name: str | None,
    kind: str,
    reflected: bool,
    model: object,
) -> bool:
    """Ignore the indexes of the search, which depend on what the database has, and partitions."""
    if kind == "table":
        return not (reflected and model is None and name in partitions())
    return not (kind == "index" and reflected and name in search_indexes)


def _explain_search_indexes(search_indexes: set[str], *, ctx: Any, step: Any, **_: object) -> None:
    """Print what to do about the indexes that the SQL of offline mode does not have."""
    if not ctx.as_sql or step.up_revision_id != "0032_removed_features":
        return
    names = ", ".join(sorted(search_indexes))
    todo = "run `flask frontdesk index-search` afterwards" if step.is_upgrade else f"drop {names}"
    ctx.impl.static_output(
        f"-- The indexes for the search depend on the database and are not in this SQL: {todo}."
    )


def _write_own(
    finish: Callable[..., None], context: Any, revision: Any, directives: list[Any]
) -> None:
    """Write migrations only to the application's history. `head` is its head, not Frontdesk's."""
    finish(context, revision, directives)
    scripts = context.environment_context.script
    for new in directives:
        if new.head == "head":
            heads = [scripts.get_revision(each) for each in scripts.get_heads()]
            own = [each for each in heads if _is_own(Path(each.path))]
            if heads and len(own) <= 1:
                new.head = (own or heads)[0].revision
        bases = [each for each in scripts.get_revisions(new.head) if each is not None]
        folder = Path(bases[0].path).parent if bases else Path(scripts.versions)
        check_is_own(Path(new.version_path or folder))


def check_is_own(folder: Path) -> None:
    """Raise SetupError for a folder outside the application, to which a link may lead too."""
    if not _is_own(folder):
        raise SetupError(
            f"{folder.resolve()} is not a folder of your application: run `flask frontdesk"
            " migrations init`, which begins a history of your own migrations."
        )


def _is_own(path: Path) -> bool:
    path, ours = path.resolve(), migrations_folder().resolve()
    context = current_app.extensions["frontdesk"]
    if not context.owns_application and path.is_relative_to(ours):
        return False
    roots = (
        Path(current_app.extensions["migrate"].directory).absolute().parent,
        Path(current_app.root_path),
    )
    is_inside = any(path.is_relative_to(root.resolve()) for root in roots)
    return is_inside and not {"site-packages", "dist-packages"} & set(path.parts)


def _finish_migration(context: Any, _revision: Any, directives: list[Any]) -> None:
    """Have `flask db migrate` write no migration if nothing has changed, and drop a table after
    those that refer to it."""
    command = getattr(context.config, "cmd_opts", None)
    if not getattr(command, "autogenerate", False):
        return
    script = directives[0]
    if script.upgrade_ops.is_empty():
        directives.clear()
        return
    _drop_references_first(script.upgrade_ops.ops)
    script.upgrade_ops.reverse_into(script.downgrade_ops)


def _drop_references_first(changes: list[Any]) -> None:
    """Drop tables at the end, each after those that refer to it: Alembic does not sort them, and
    PostgreSQL refuses to drop a table that another one refers to."""
    from alembic.operations.ops import DropTableOp

    drops = {each.table_name: each for each in changes if isinstance(each, DropTableOp)}
    referring: dict[str, set[str]] = {name: set() for name in drops}
    for name, each in drops.items():
        for key in each.to_table().foreign_keys:
            target = key.target_fullname.split(".")[-2]
            if target in drops and target != name:
                referring[target].add(name)
    changes[:] = [each for each in changes if not isinstance(each, DropTableOp)]
    changes += (drops[name] for name in TopologicalSorter(referring).static_order())


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
    from .pooler import TRANSACTION_MODE, shares_sessions  # imports the driver
    from .postgres import statement_timeout

    if shares_sessions(connection.engine):
        raise SetupError(f"{TRANSACTION_MODE}.")
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
