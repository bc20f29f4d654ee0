"""Checks of the first root account, and of the columns and indexes of the accounts."""

from collections.abc import Iterator

from sqlalchemy import Connection, func, inspect, select, text

from ..core.context import current_frontdesk, service
from ..core.db.search_indexes import has_trigram_index
from ..core.doctor import Check, Finding
from ..core.web.operation import find_unknown_roles
from .models import keeps_dates
from .passwords import DEFAULT_PASSWORD
from .search import MAX_SCANNED
from .service import Accounts


def check_first_password() -> Iterator[Finding]:
    if current_frontdesk.settings.top_level("FIRST_SUPERUSER_PASSWORD") == DEFAULT_PASSWORD:
        text = "FIRST_SUPERUSER_PASSWORD still has its default value. Set another password."
        yield Finding("superuser", "fault", text)


def check_superuser() -> Iterator[Finding]:
    accounts = service(Accounts)
    email = current_frontdesk.settings.top_level("FIRST_SUPERUSER")
    root = accounts.find(email) if email else None
    if not accounts.passwords.enabled:
        return
    if root and accounts.passwords.matches(DEFAULT_PASSWORD, root.password_hash):
        text = (
            f"The account {root.email} still has the default password. Run"
            f" `flask accounts set {root.email} --password` to change the password."
        )
        yield Finding("superuser", "fault", text)


def check_administration() -> Iterator[Finding]:
    """Warn if the account model lacks an optional column that user management needs."""
    context = current_frontdesk
    if "administration" in context.mounted.names and not keeps_dates(context.tables.account_model):
        text = (
            "The account model has no column suspended_until, so a suspension has no end date and"
            " lasts until an administrator ends it. Add the column, as in AccountMixin."
        )
        yield Finding("administration", "warning", text)


def check_required_roles() -> Iterator[Finding]:
    for problem in find_unknown_roles(current_frontdesk.app, service(Accounts).roles):
        yield Finding("roles", "fault", problem)


def check_stored_roles() -> Iterator[Finding]:
    accounts = service(Accounts)
    role = accounts.model.role
    # The first condition selects the partial index of accounts with a role other than `user`.
    stored = select(role, func.count()).where(role != "user", role.not_in(accounts.roles))
    for name, count in accounts.session.execute(stored.group_by(role).order_by(role)):
        text = (
            f"Accounts with the role {name!r}, which is not in AUTH__ROLES: {count}. Add the role"
            " to the setting, or give these accounts another role."
        )
        yield Finding("roles", "warning", text)


def check_email_index() -> Iterator[Finding]:
    """Sign-in reads `lower(email)` if the application stores email addresses in mixed case."""
    context = current_frontdesk
    model, accounts = context.tables.account_model, context.tables.accounts
    if model is None or accounts is None or context.owns_application:
        return
    engine = context.db.engine
    if "lower(" not in str(select(model.email).compile(engine)).lower():
        return
    with engine.connect() as connection:
        if any("lower(" in index.lower() for index in _indexes(connection, accounts.name)):
            return
    yield Finding(
        "accounts",
        "warning",
        f"The table {accounts.fullname} has no index on lower(email), so every sign-in reads the"
        f" whole table. Create the index: CREATE UNIQUE INDEX ix_{accounts.name}_lower_email ON"
        f" {accounts.fullname} (lower(email))",
    )


def check_search_index() -> Iterator[Finding]:
    """Without a trigram index, the search finds only starts among many accounts."""
    context = current_frontdesk
    engine = context.db.engine
    model = context.tables.account_model
    if model is None or engine.dialect.name != "postgresql":
        return
    if not inspect(engine).has_table(model.__table__.name, schema=model.__table__.schema):
        return  # The check of the migrations reports the missing table.
    one_more = select(model.id).offset(MAX_SCANNED).limit(1)
    if context.session.scalar(one_more) is None or has_trigram_index(context.session, model):
        return
    yield Finding(
        "search",
        "warning",
        "The accounts have no trigram index, so a search finds only the start of a name, email"
        " address or phone number. Run `flask frontdesk index-search` as a database user who may"
        " create the extension pg_trgm and indexes.",
    )


def _indexes(connection: Connection, table: str) -> list[str]:
    """Return the SQL definitions of a table's indexes."""
    sql = "SELECT indexdef FROM pg_indexes WHERE tablename = :table"
    if connection.dialect.name == "sqlite":
        sql = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table"
    return [index for index in connection.scalars(text(sql), {"table": table}) if index]


CHECKS = (
    Check(check_first_password),
    Check(check_administration),
    Check(check_required_roles),
    Check(check_superuser, "database"),
    Check(check_stored_roles, "database"),
    Check(check_email_index, "database"),
    Check(check_search_index, "database"),
)
