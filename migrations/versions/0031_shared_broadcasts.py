"""All tables, as commit ffc84c54 had them. Its 29 migrations were replaced by this one before the
first release. From the first release on, published migrations are not edited."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from flask import current_app

revision = "0031_shared_broadcasts"
down_revision = None
# The ids after the first are the migrations that this one replaces: an application's migration that
# depends on one of them depends on this one.
branch_labels = (
    "frontdesk",
    "0001_tasks",
    "0002_accounts",
    "0003_workspaces",
    "0004_profiles",
    "0005_notifications",
    "0006_logged_out",
    "0007_standing",
    "0008_outbox_subject",
    "0010_identities",
    "0012_invitations",
    "0013_profiles_nullable",
    "0014_longer_hashes",
    "0015_unverified",
    "0016_events",
    "0017_administration",
    "0018_changes",
    "0019_exports",
    "0020_sessions",
    "0021_authenticators",
    "0022_installation",
    "0023_expansions",
    "0024_broadcasts",
    "0025_saved_filters",
    "0026_audiences",
    "0027_account_notes",
    "0028_deliveries_by_end",
    "0029_workspace_logos",
    "0030_search",
)
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
Moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    create_keystore_and_tasks()
    create_accounts()
    create_workspaces()
    create_profiles()
    create_notifications()
    create_broadcasts()
    create_outbox()
    create_sign_in()
    create_account_changes()
    create_administration()
    create_shared_broadcasts()


def downgrade() -> None:
    for table in (
        "shared_items",
        "shared_broadcasts",
        "account_notes",
        "saved_filters",
        "events",
        "installation",
        "exports",
        "account_deletions",
        "email_changes",
        "trusted_devices",
        "recovery_codes",
        "authenticators",
        "sessions",
        "identities",
        "deliveries",
        "outgoing_messages",
        "broadcast_drafts",
        "segments",
        "expansions",
        "inbox",
        "notifications",
        "profiles",
        "invitations",
        "workspace_members",
        "workspaces",
    ):
        op.drop_table(f"frontdesk_{table}")
    drop_accounts()
    op.drop_table("frontdesk_tasks")
    op.drop_table("frontdesk_keystore_entries")


def create_table(name: str, *columns: sa.Column | sa.Constraint, reuses_ids: bool = False) -> None:
    """On SQLite, ids are not reused unless `reuses_ids`."""
    op.create_table(name, *columns, sqlite_autoincrement=not reuses_ids)


def create_index(table: str, name: str, columns: list, where: str | None = None, **options) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        f"ix_{table}_{name}",
        table,
        columns,
        sqlite_where=condition,
        postgresql_where=condition,
        **options,
    )


def primary_key(table: str, column: str = "id") -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(column, name=f"pk_{table}")


def foreign_key(table: str, column: str, target: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_{column}"
    return sa.ForeignKeyConstraint([column], [target], name=name, ondelete=ondelete)


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def accounts_table():
    return current_app.extensions["frontdesk"].accounts_in_migrations


def create_keystore_and_tasks() -> None:
    entries, tasks = "frontdesk_keystore_entries", "frontdesk_tasks"
    create_table(
        entries,
        sa.Column("key", sa.String(512), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        primary_key(entries, "key"),
        reuses_ids=True,
    )
    create_index(entries, "expires_at", ["expires_at"])
    create_table(
        tasks,
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("priority", sa.String(50), nullable=False),
        sa.Column("owner", sa.String(255), nullable=False),
        primary_key(tasks),
    )
    create_index(tasks, "owner_id", ["owner", "id"])


# Accounts: an application's own table gets the columns that its model has.
LATER_COLUMNS = {
    "logged_out_at": Moment,
    "email_unverified_since": Moment,
    "suspended_until": Moment,
    "suspended_reason": sa.String(500),
    "locale": sa.String(35),
    "time_zone": sa.String(64),
}


def create_accounts() -> None:
    accounts = accounts_table()
    if context.is_offline_mode() or not accounts.is_in(op.get_bind()):
        if not accounts.is_as_ours and not is_before_the_application():
            raise RuntimeError(
                f"The table of accounts {accounts.id!r} is not there: create it first, in a migration"
                " of the application (flask db upgrade YOURS@head)."
            )
        create_accounts_table(accounts)
    for name, kind in LATER_COLUMNS.items():
        # A nullable column without a default: no database rewrites the table for it.
        accounts.add_column(sa.Column(name, kind, nullable=True))
    if current_app.extensions["frontdesk"].owns_application:
        create_account_indexes()


def is_before_the_application() -> bool:
    """Return whether the application's migrations begin after this one, which then creates the table
    of accounts: they cannot have created it."""
    found = context.script.walk_revisions()
    return any(each.is_base and revision in sa.util.to_list(each.dependencies or ()) for each in found)


def create_accounts_table(accounts) -> None:
    """The application's next migration adds the further columns of its model."""
    columns = [
            sa.Column("email", sa.String(320), nullable=False),
            sa.Column("password_hash", sa.String(255), nullable=True),
            sa.Column("status", sa.String(50), nullable=False),
            sa.Column("role", sa.String(50), nullable=False),
            sa.Column("phone", sa.String(32), nullable=True),
            sa.Column("last_login_date", Moment, nullable=True),
            sa.Column("current_workspace_id", Id, nullable=True),
            sa.Column("created_at", Moment, nullable=False),
            sa.Column("tokens_valid_from", Moment, nullable=True),
    ]
    columns = [each for each in columns if accounts.columns is None or each.name in accounts.columns]
    if any(each.name == "email" for each in columns):
        columns.append(unique(accounts.name, "email"))
    op.create_table(
        accounts.name,
        sa.Column(accounts.key, accounts.type, nullable=False),
        *columns,
        primary_key(accounts.name, accounts.key),
        schema=accounts.schema,
        sqlite_autoincrement=isinstance(accounts.type, sa.Integer),
    )


def create_account_indexes() -> None:
    create_index("accounts", "created_at", ["created_at", "id"])
    create_index("accounts", "email", ["email"], postgresql_ops={"email": 'COLLATE "C"'})
    create_index("accounts", "last_login_date", ["last_login_date", "id"])
    create_index("accounts", "phone", ["phone"], "phone IS NOT NULL")
    create_index("accounts", "role", ["role", "created_at", "id"], "role <> 'user'")
    create_index("accounts", "status", ["status", "created_at", "id"], "status <> 'active'")
    is_unverified = "email_unverified_since IS NOT NULL"
    create_index("accounts", "unverified", ["created_at", "id"], is_unverified)


def drop_accounts() -> None:
    accounts = accounts_table()
    if current_app.extensions["frontdesk"].owns_application:
        op.drop_table("accounts")
        return
    # The table belongs to the application.
    for name in reversed(LATER_COLUMNS):
        accounts.drop_column(name)


def create_workspaces() -> None:
    accounts = accounts_table()
    workspaces, members = "frontdesk_workspaces", "frontdesk_workspace_members"
    invitations = "frontdesk_invitations"
    create_table(
        workspaces,
        sa.Column("id", Id, nullable=False),
        sa.Column("slug", sa.String(63), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("is_personal", sa.Boolean, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("creator_id", accounts.type, nullable=True),
        sa.Column("logo_file", sa.String(64), nullable=True),
        primary_key(workspaces),
        unique(workspaces, "slug"),
    )
    bytewise = ' COLLATE "C"' if op.get_context().dialect.name == "postgresql" else ""
    create_index(workspaces, "creator_id", ["creator_id"])
    create_index(workspaces, "logo_file", ["logo_file"], unique=True)
    create_index(workspaces, "slug", [sa.text(f"slug{bytewise}")])
    create_index(workspaces, "name", [sa.text(f"name{bytewise}")])
    create_table(
        members,
        sa.Column("id", Id, nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(members),
        foreign_key(members, "workspace_id", "frontdesk_workspaces.id"),
        foreign_key(members, "account_id", accounts.id),
        unique(members, "workspace_id", "account_id"),
    )
    create_index(members, "account_id", ["account_id"])
    create_index(members, "owners", ["workspace_id", "id", "account_id"], "type = 'owner'")
    create_table(
        invitations,
        sa.Column("id", Id, nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.Column("inviter_id", accounts.type, nullable=True),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("message", sa.String(500), nullable=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("sends", sa.Integer, nullable=False),
        sa.Column("sent_at", Moment, nullable=True),
        sa.Column("expires_at", Moment, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(invitations),
        foreign_key(invitations, "workspace_id", "frontdesk_workspaces.id"),
        foreign_key(invitations, "inviter_id", accounts.id, ondelete="SET NULL"),
    )
    is_pending = sa.text("state = 'pending'")
    op.create_index(
        "uq_frontdesk_invitations_pending",
        invitations,
        ["workspace_id", "email"],
        unique=True,
        sqlite_where=is_pending,
        postgresql_where=is_pending,
    )
    create_index(invitations, "workspace_id", ["workspace_id", "id"])
    create_index(invitations, "inviter_id", ["inviter_id"])
    create_index(invitations, "email", ["email"])


def create_profiles() -> None:
    accounts, profiles = accounts_table(), "frontdesk_profiles"
    create_table(
        profiles,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("first_name", sa.String(100), nullable=True),
        sa.Column("last_name", sa.String(100), nullable=True),
        sa.Column("date_of_birth", sa.Date, nullable=True),
        sa.Column("gender", sa.String(50), nullable=True),
        sa.Column("marital_status", sa.String(50), nullable=True),
        sa.Column("phone", sa.String(50), nullable=True),
        sa.Column("address", sa.String(255), nullable=True),
        sa.Column("city", sa.String(100), nullable=True),
        sa.Column("state", sa.String(100), nullable=True),
        sa.Column("country", sa.String(100), nullable=True),
        sa.Column("postal_code", sa.String(20), nullable=True),
        sa.Column("bio", sa.String(2000), nullable=True),
        sa.Column("avatar", sa.String(2048), nullable=True),
        sa.Column("avatar_file", sa.String(64), nullable=True),
        sa.Column("extra", sa.JSON, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        primary_key(profiles),
        foreign_key(profiles, "account_id", accounts.id),
        unique(profiles, "account_id"),
        unique(profiles, "avatar_file"),
    )


def create_notifications() -> None:
    accounts = accounts_table()
    notifications, inbox = "frontdesk_notifications", "frontdesk_inbox"
    create_table(
        notifications,
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("sender_id", accounts.type, nullable=True),
        sa.Column("notification_type", sa.String(20), nullable=False),
        sa.Column("scope", sa.String(50), nullable=False),
        sa.Column("receivers", Id, nullable=False, server_default="0"),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("counts", sa.JSON, nullable=True),
        sa.Column("counted_at", Moment, nullable=True),
        sa.Column("audience", sa.JSON, nullable=True),
        sa.Column("is_personal", sa.Boolean, nullable=True),
        primary_key(notifications),
        foreign_key(notifications, "sender_id", accounts.id, ondelete="SET NULL"),
    )
    create_index(notifications, "sender_id", ["sender_id", "id"])
    is_broadcast = "notification_type = 'admin' AND scope = 'account'"
    create_index(notifications, "broadcasts", ["id"], is_broadcast)
    create_table(
        inbox,
        sa.Column("id", Id, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("receiver_id", accounts.type, nullable=False),
        sa.Column("is_read", sa.Boolean, nullable=False, server_default=sa.false()),
        primary_key(inbox),
        foreign_key(inbox, "notification_id", "frontdesk_notifications.id"),
        foreign_key(inbox, "receiver_id", accounts.id),
        unique(inbox, "notification_id", "receiver_id"),
    )
    create_index(inbox, "receiver_id", ["receiver_id", "id"])
    create_index(inbox, "unread", ["receiver_id", "id"], "NOT is_read")


def create_broadcasts() -> None:
    expansions, segments = "frontdesk_expansions", "frontdesk_segments"
    drafts = "frontdesk_broadcast_drafts"
    create_table(
        expansions,
        sa.Column("id", Id, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("audience", sa.JSON, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("outgoing_id", Id, nullable=True),
        sa.Column("last_id", Id, nullable=True),
        sa.Column("last_created_at", Moment, nullable=True),
        sa.Column("position", sa.String(255), nullable=True),
        sa.Column("stored", Id, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False),
        sa.Column("due_at", Moment, nullable=False),
        sa.Column("claim", sa.String(32), nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(expansions),
        foreign_key(expansions, "notification_id", "frontdesk_notifications.id"),
        unique(expansions, "notification_id"),
    )
    create_index(expansions, "queue", ["due_at"], "state = 'pending'")
    create_table(
        segments,
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("audience", sa.JSON, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(segments),
        unique(segments, "name"),
    )
    accounts = accounts_table()
    create_table(
        drafts,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        primary_key(drafts),
        foreign_key(drafts, "account_id", accounts.id),
    )
    create_index(drafts, "account_id", ["account_id", "id"])


def create_outbox() -> None:
    messages, deliveries = "frontdesk_outgoing_messages", "frontdesk_deliveries"
    create_table(
        messages,
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("template_file", sa.String(255), nullable=True),
        sa.Column("context", sa.Text, nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("subject_kind", sa.String(30), nullable=True),
        sa.Column("subject_id", Id, nullable=True),
        sa.Column("is_personal", sa.Boolean, nullable=True),
        primary_key(messages),
    )
    create_index(messages, "subject", ["subject_kind", "subject_id"])
    create_table(
        deliveries,
        sa.Column("id", Id, nullable=False),
        sa.Column("outgoing_id", Id, nullable=False),
        sa.Column("receiver_id", accounts_table().receiver_type, nullable=False),
        sa.Column("channel", sa.String(50), nullable=False),
        sa.Column("lane", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False),
        sa.Column("due_at", Moment, nullable=False),
        sa.Column("claim", sa.String(32), nullable=True),
        sa.Column("reason", sa.String(200), nullable=True),
        sa.Column("reference", sa.String(100), nullable=True),
        sa.Column("finished_at", Moment, nullable=True),
        primary_key(deliveries),
        foreign_key(deliveries, "outgoing_id", "frontdesk_outgoing_messages.id"),
    )
    in_queue = ["channel", "lane", "due_at", "id"]
    create_index(deliveries, "queue", in_queue, "state = 'pending'")
    create_index(deliveries, "outgoing_id", ["outgoing_id", "channel", "state"])
    create_index(deliveries, "receiver_id", ["receiver_id", "id"])
    by_end = ["state", "finished_at", "id"]
    create_index(deliveries, "finished_at", by_end, "state IN ('sent', 'failed')")


def create_sign_in() -> None:
    create_identities()
    create_sessions()
    create_of_account(
        "authenticators",
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("confirmed_at", Moment, nullable=True),
        sa.Column("last_used_at", Moment, nullable=True),
        sa.Column("secret", sa.String(255), nullable=True),
        sa.Column("last_step", sa.BigInteger, nullable=True),
        sa.Column("user_handle", sa.LargeBinary(64), nullable=True),
        sa.Column("credential_id", sa.LargeBinary(1023), nullable=True),
        sa.Column("public_key", sa.LargeBinary, nullable=True),
        sa.Column("sign_count", sa.BigInteger, nullable=True),
        sa.Column("aaguid", sa.String(36), nullable=True),
        sa.Column("transports", sa.JSON, nullable=True),
        sa.Column("backed_up", sa.Boolean, nullable=True),
        unique("frontdesk_authenticators", "credential_id"),
    )
    create_of_account(
        "recovery_codes",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("used_at", Moment, nullable=True),
        unique("frontdesk_recovery_codes", "digest"),
    )
    create_of_account(
        "trusted_devices",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("user_agent", sa.String(255), nullable=True),
        sa.Column("ip", sa.String(45), nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("last_used_at", Moment, nullable=True),
        sa.Column("expires_at", Moment, nullable=False),
        unique("frontdesk_trusted_devices", "digest"),
    )


def create_of_account(name: str, *columns: sa.Column | sa.Constraint) -> None:
    accounts, table = accounts_table(), f"frontdesk_{name}"
    create_table(
        table,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        *columns,
        primary_key(table),
        foreign_key(table, "account_id", accounts.id),
    )
    create_index(table, "account_id", ["account_id", "id"])


def create_identities() -> None:
    accounts, identities = accounts_table(), "frontdesk_identities"
    create_table(
        identities,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("provider", sa.String(50), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("linked_at", Moment, nullable=False),
        sa.Column("last_used_at", Moment, nullable=False),
        primary_key(identities),
        foreign_key(identities, "account_id", accounts.id),
        unique(identities, "issuer", "subject"),
    )
    create_index(identities, "account_id", ["account_id"])


def create_sessions() -> None:
    accounts, sessions = accounts_table(), "frontdesk_sessions"
    create_table(
        sessions,
        sa.Column("id", Id, nullable=False),
        sa.Column("public_id", sa.Uuid, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("secret", sa.LargeBinary(32), nullable=False),
        sa.Column("counter", sa.Integer, nullable=False),
        sa.Column("refreshed_at", Moment, nullable=True),
        sa.Column("amr", sa.String(60), nullable=False),
        sa.Column("authenticated_at", Moment, nullable=False),
        sa.Column("factor_at", Moment, nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("used_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.Column("ended_at", Moment, nullable=True),
        sa.Column("end_reason", sa.String(20), nullable=True),
        sa.Column("ip", sa.String(45), nullable=True),
        sa.Column("user_agent", sa.String(255), nullable=True),
        primary_key(sessions),
        unique(sessions, "public_id"),
        foreign_key(sessions, "account_id", accounts.id),
    )
    create_index(sessions, "account_id", ["account_id", "id"], "ended_at IS NULL")
    create_index(sessions, "expires_at", ["expires_at"])


def create_account_changes() -> None:
    accounts = accounts_table()
    changes, deletions = "frontdesk_email_changes", "frontdesk_account_deletions"
    exports = "frontdesk_exports"
    create_table(
        changes,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("old_email", sa.String(320), nullable=False),
        sa.Column("new_email", sa.String(320), nullable=False),
        sa.Column("is_undoable", sa.Boolean, nullable=False),
        sa.Column("requested_at", Moment, nullable=False),
        sa.Column("confirmed_at", Moment, nullable=True),
        primary_key(changes),
        foreign_key(changes, "account_id", accounts.id),
    )
    create_index(changes, "account_id", ["account_id"])
    create_index(changes, "new_email", ["new_email"])
    create_table(
        deletions,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("former_status", sa.String(50), nullable=False),
        sa.Column("deletes_at", Moment, nullable=False),
        primary_key(deletions),
        unique(deletions, "account_id"),
        foreign_key(deletions, "account_id", accounts.id),
    )
    create_index(deletions, "deletes_at", ["deletes_at"])
    create_table(
        exports,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False),
        sa.Column("due_at", Moment, nullable=False),
        sa.Column("claim", sa.String(32), nullable=True),
        sa.Column("file", sa.String(64), nullable=True),
        sa.Column("size", Id, nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=True),
        primary_key(exports),
        foreign_key(exports, "account_id", accounts.id),
    )
    create_index(exports, "account_id", ["account_id", "id"])
    create_index(exports, "queue", ["due_at"], "state = 'pending'")


def create_administration() -> None:
    accounts = accounts_table()
    installation, events = "frontdesk_installation", "frontdesk_events"
    filters, notes = "frontdesk_saved_filters", "frontdesk_account_notes"
    create_table(
        installation,
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(installation),
        reuses_ids=True,
    )
    create_table(
        events,
        sa.Column("id", Id, nullable=False),
        sa.Column("type", sa.String(64), nullable=False),
        sa.Column("at", Moment, nullable=False),
        sa.Column("actor_kind", sa.String(20), nullable=False),
        sa.Column("actor_id", accounts.type, nullable=True),
        sa.Column("account_id", accounts.type, nullable=True),
        sa.Column("workspace_id", Id, nullable=True),
        sa.Column("target_kind", sa.String(64), nullable=True),
        sa.Column("target_id", sa.String(255), nullable=True),
        sa.Column("address", sa.String(45), nullable=True),
        sa.Column("user_agent", sa.String(255), nullable=True),
        sa.Column("request_id", sa.String(128), nullable=True),
        sa.Column("data", sa.JSON, nullable=False),
        primary_key(events),
        reuses_ids=True,
    )
    create_index(events, "at", ["at", "id"])
    create_index(events, "type", ["type", "at", "id"], "type <> 'login.succeeded'")
    create_index(events, "actor_id", ["actor_id", "at", "id"])
    create_index(events, "account_id", ["account_id", "at", "id"])
    create_index(events, "workspace_id", ["workspace_id", "at", "id"], "workspace_id IS NOT NULL")
    by_target = ["target_kind", "target_id", "at", "id"]
    create_index(events, "target", by_target, "target_id IS NOT NULL")
    create_table(
        filters,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("query", sa.String(1000), nullable=False),
        primary_key(filters),
        foreign_key(filters, "account_id", accounts.id),
        reuses_ids=True,
    )
    create_index(filters, "account_id", ["account_id", "name"], unique=True)
    create_table(
        notes,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("author_id", accounts.type, nullable=False),
        sa.Column("text", sa.String(2000), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        primary_key(notes),
        foreign_key(notes, "account_id", accounts.id),
    )
    create_index(notes, "account_id", ["account_id", "id"])


def create_shared_broadcasts() -> None:
    accounts = accounts_table()
    broadcasts, items = "frontdesk_shared_broadcasts", "frontdesk_shared_items"
    create_table(
        broadcasts,
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("through_id", accounts.type, nullable=False),
        primary_key(broadcasts, "item_id"),
        foreign_key(broadcasts, "notification_id", "frontdesk_notifications.id"),
        unique(broadcasts, "notification_id"),
        reuses_ids=True,
    )
    create_table(
        items,
        sa.Column("receiver_id", accounts.type, autoincrement=False, nullable=False),
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("is_read", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("is_deleted", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("receiver_id", "item_id", name=f"pk_{items}"),
        foreign_key(items, "receiver_id", accounts.id),
        foreign_key(items, "item_id", "frontdesk_shared_broadcasts.item_id"),
        reuses_ids=True,
    )
    create_index(items, "item_id", ["item_id"])
