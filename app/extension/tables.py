"""The tables of all features, in the metadata of an application.

Mapping all of them takes an eighth of a small application's start, so a process that neither
migrates nor creates tables maps those of the features that it uses.
"""

import sys
from collections.abc import Collection, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, MetaData, Table, event, inspect

from ..auth.settings import AuthSettings
from ..core.context import Context

# The modules with tables that every application has, and their tables.
MODELS = {
    "accounts.notes": ("account_notes",),
    "auth.email_change.models": ("email_changes",),
    "auth.idp.models": ("identities",),
    "broadcasts.models": ("broadcast_drafts", "segments"),
    "core.audit_log.models": ("events",),
    "core.keystore.database": ("keystore_entries",),
    "deletion.models": ("account_deletions",),
    "delivery.mail.message_ids": ("installation",),
    "delivery.outbox.models": ("deliveries", "outgoing_messages"),
    "exports.models": ("exports",),
    "notifications.models": ("expansions", "inbox", "notification_keys", "notifications"),
    "profiles.models": ("profiles",),
    "workspaces.invitations.models": ("invitations",),
    "workspaces.models": ("workspace_members", "workspaces"),
}
# Tables that only some applications have. No start imports their models.
_MODELS_OF_FEATURES = ("auth.idp.provider_models", "banners.models", "tokens.models")
TABLES = frozenset(f"frontdesk_{name}" for names in MODELS.values() for name in names)
# Those whose rows are work for the worker that sends messages.
WORK_TABLES = (
    "frontdesk_account_deletions",
    "frontdesk_deliveries",
    "frontdesk_expansions",
    "frontdesk_exports",
)


def work_tables(context: Context) -> Sequence[str]:
    """Return the tables with work for the worker that sends messages."""
    has_tokens = context.settings.of(AuthSettings).PERSONAL_TOKENS == "on"
    return (*WORK_TABLES, *(["frontdesk_personal_tokens"] if has_tokens else []))


def import_models() -> None:
    for module in (*MODELS, *_MODELS_OF_FEATURES):
        import_module(f"..{module}", __package__)


def add_tables(context: Context) -> None:
    """Add the tables of all features to the metadata; where no migration can be generated, not
    before `db.create_all()`, which creates the accounts first, or `context.metadata` needs them."""
    tables = context.tables
    if tables.is_service:
        return
    tables.add_all()
    # `flask db migrate` would drop the tables that the metadata lacks. Flask-Migrate imports
    # Alembic, and so does every command of `flask` where Flask-Migrate is installed.
    if "alembic" in sys.modules:
        _ = tables.metadata
    else:
        event.listen(tables.application_metadata, "after_create", partial(_create, context))


def _create(
    context: Context,
    metadata: MetaData,
    connection: Connection,
    tables: Collection[Table] = (),
    **_: Any,
) -> None:
    """Create the tables of features that are not imported, with those that are created now."""
    creates_all = any(table.name in TABLES for table in tables)
    # Without any of these tables, all exist, unless a newer version has added one.
    if creates_all or not (tables or TABLES.issubset(inspect(connection).get_table_names())):
        known = set(metadata.tables)
        added = [each for name, each in context.metadata.tables.items() if name not in known]
        if added:
            metadata.create_all(connection, tables=added)
