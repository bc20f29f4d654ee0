"""Reads a table's columns, indexes, keys and settings from PostgreSQL, as they are in this
database."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, text

from ...errors import SetupError
from .names import MARK, quoted

_TABLE = text(
    "SELECT pg_class.oid, nspname, relname, relkind, pg_get_userbyid(relowner), reltuples,"
    " pg_total_relation_size(pg_class.oid), obj_description(pg_class.oid, 'pg_class')"
    " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE pg_class.oid = to_regclass(:name)"
)
_COLUMNS = text(
    "SELECT attname, format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid),"
    " attnotnull, concat_ws(', ', CASE WHEN attstattarget >= 0"
    " THEN format('ALTER %I SET STATISTICS %s', attname, attstattarget) END,"
    " (SELECT format('ALTER %I SET (%s)', attname, string_agg(each, ', '))"
    # PostgreSQL has internal options, too.
    " FROM unnest(attoptions) AS each WHERE each LIKE 'n_distinct%' HAVING count(*) > 0))"
    " FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
    " WHERE attrelid = :oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_INDEXES = text(
    "SELECT relname, coalesce(pg_get_constraintdef(pg_constraint.oid), ''),"
    " pg_get_indexdef(indexrelid), indisunique, indisprimary,"
    " ARRAY(SELECT CAST(attname AS text) FROM pg_attribute"
    " WHERE attrelid = indrelid AND attnum = ANY (indkey))"
    " FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
    " LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = indrelid"
    " AND contype IN ('p', 'u', 'x')"
    " WHERE indrelid = :oid AND indisvalid ORDER BY relname"
)
_FOREIGN_KEYS = text(
    "SELECT conname, pg_get_constraintdef(oid), CAST(CAST(confrelid AS regclass) AS text)"
    " FROM pg_constraint WHERE conrelid = :oid AND contype = 'f' ORDER BY conname"
)
_CHECKS = text(
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE conrelid = :oid AND contype = 'c' ORDER BY conname"
)
_STATISTICS = text(
    "SELECT nspname, stxname, substr(pg_get_statisticsobjdef(pg_statistic_ext.oid),"
    " length(format('CREATE STATISTICS %I.%I', nspname, stxname)) + 1)"
    " FROM pg_statistic_ext JOIN pg_namespace ON pg_namespace.oid = stxnamespace"
    " WHERE stxrelid = :oid ORDER BY nspname, stxname"
)
# A partitioned table itself has no storage parameters: those of its first partition are read.
_PARAMETERS = text(
    "SELECT format('%s%I = %L', prefix, option_name, option_value) FROM ("
    "SELECT oid, '' AS prefix, reloptions FROM pg_class"
    " UNION ALL SELECT own.oid, 'toast.', toast.reloptions FROM pg_class AS own"
    " JOIN pg_class AS toast ON toast.oid = own.reltoastrelid"
    ") AS relation, pg_options_to_table(reloptions) WHERE oid = coalesce("
    "(SELECT min(inhrelid) FROM pg_inherits WHERE inhparent = :oid), :oid) ORDER BY 1"
)
# What the partitioned copy would not have.
_OBSTACLES = text(
    "SELECT 'trigger ' || tgname FROM pg_trigger"
    " WHERE tgrelid = :oid AND NOT tgisinternal AND tgfoid IS DISTINCT FROM to_regproc(:ours)"
    " UNION ALL SELECT 'foreign key ' || conname || ' of ' || CAST(conrelid AS regclass)"
    " FROM pg_constraint WHERE confrelid = :oid AND contype = 'f'"
    " UNION ALL SELECT DISTINCT 'view ' || CAST(ev_class AS regclass) FROM pg_depend"
    " JOIN pg_rewrite ON pg_rewrite.oid = objid WHERE classid = CAST('pg_rewrite' AS regclass)"
    " AND refclassid = CAST('pg_class' AS regclass) AND refobjid = :oid"
    " UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite WHERE ev_class = :oid"
    " UNION ALL SELECT 'row-level security' FROM pg_class WHERE oid = :oid AND relrowsecurity"
    " UNION ALL SELECT 'policy ' || polname FROM pg_policy WHERE polrelid = :oid"
    " UNION ALL SELECT 'publication ' || pubname FROM pg_publication_rel"
    " JOIN pg_publication ON pg_publication.oid = prpubid WHERE prrelid = :oid"
    " UNION ALL SELECT 'inheritance of ' || CAST(inhrelid AS regclass) FROM pg_inherits"
    " WHERE :oid IN (inhrelid, inhparent)"
    " UNION ALL SELECT 'statistics target of ' || stxname FROM pg_statistic_ext"
    " WHERE stxrelid = :oid AND stxstattarget >= 0"
    " UNION ALL SELECT 'identity column ' || attname FROM pg_attribute"
    " WHERE attrelid = :oid AND attidentity <> ''"
    " UNION ALL SELECT 'tablespace of ' || relname FROM pg_class"
    " LEFT JOIN pg_index ON indexrelid = pg_class.oid"
    " WHERE :oid IN (pg_class.oid, indrelid) AND reltablespace <> 0"
    # The definition of a constraint does not have them, unlike that of an index.
    " UNION ALL SELECT 'storage parameters of ' || relname FROM pg_constraint"
    " JOIN pg_class ON pg_class.oid = conindid"
    " WHERE conrelid = :oid AND contype IN ('p', 'u', 'x') AND reloptions IS NOT NULL"
    " UNION ALL SELECT 'replica identity' FROM pg_class WHERE oid = :oid AND relreplident <> 'd'"
    " UNION ALL SELECT 'state UNLOGGED' FROM pg_class WHERE oid = :oid AND relpersistence = 'u'"
)


class TableColumn(NamedTuple):
    name: str
    type: str
    default: str | None
    is_required: bool
    # Actions of ALTER TABLE that set the statistics target and other options, or empty.
    settings: str


class TableIndex(NamedTuple):
    name: str
    # The constraint that the index belongs to, such as "UNIQUE (a, b)"; otherwise empty.
    constraint: str
    definition: str
    is_unique: bool
    is_primary: bool
    columns: list[str]


class TableForeignKey(NamedTuple):
    name: str
    definition: str
    target: str


class TableStatistics(NamedTuple):
    """A statistics object."""

    schema: str
    name: str
    # As in CREATE STATISTICS, from the kinds on.
    definition: str


class LiveTable(NamedTuple):
    oid: int
    schema: str
    name: str
    is_partitioned: bool
    owner: str
    # PostgreSQL's estimate.
    rows: int
    size: int
    comment: str | None
    columns: list[TableColumn]
    indexes: list[TableIndex]
    foreign_keys: list[TableForeignKey]
    # Names and definitions.
    checks: list[tuple[str, str]]
    statistics: list[TableStatistics]
    # Storage parameters with their values, as SQL.
    parameters: list[str]

    @property
    def sql(self) -> str:
        return quoted(self.schema, self.name)

    @property
    def is_marked(self) -> bool:
        """Whether the table was created by this command, and exists only during the work."""
        return self.comment == MARK

    @property
    def column_list(self) -> str:
        return ", ".join(quoted(name) for name, *_ in self.columns)

    def next_to(self, name: str) -> str:
        """Return the SQL of another name in the table's schema."""
        return quoted(self.schema, name)


def find_table(connection: Connection, name: str) -> LiveTable | None:
    """Return a table by its name as SQL; None if the database does not have it."""
    found = connection.execute(_TABLE, {"name": name}).one_or_none()
    if found is None:
        return None
    oid, schema, table, kind, owner, rows, size, comment = found
    of_table = {"oid": oid}
    return LiveTable(
        oid,
        schema,
        table,
        kind == "p",
        owner,
        max(0, int(rows)),
        size,
        comment,
        [TableColumn(*row) for row in connection.execute(_COLUMNS, of_table)],
        [TableIndex(*row) for row in connection.execute(_INDEXES, of_table)],
        [TableForeignKey(*row) for row in connection.execute(_FOREIGN_KEYS, of_table)],
        [(name, definition) for name, definition in connection.execute(_CHECKS, of_table)],
        [
            TableStatistics(schema, name, definition.rpartition(" FROM ")[0])
            for schema, name, definition in connection.execute(_STATISTICS, of_table)
        ],
        [*connection.scalars(_PARAMETERS, of_table)],
    )


def find_work_table(connection: Connection, name: str) -> LiveTable | None:
    """Return a table that exists only during the work; None if the database does not have it.

    Raises SetupError if another table has the name.
    """
    table = find_table(connection, name)
    if table is not None and not table.is_marked:
        raise SetupError(
            f"The table {table.name} was not created by this command, which needs the name."
            " Rename the table."
        )
    return table


def obstacles(connection: Connection, table: LiveTable, column: str, function: str) -> list[str]:
    """Return what a table partitioned by the column cannot have, and what would be lost.

    `function` is the function of this command's triggers, as SQL.
    """
    parameters = {"oid": table.oid, "ours": function}
    others = [
        f"unique index {index.name} without {column}"
        for index in table.indexes
        if index.is_unique and not index.is_primary and column not in index.columns
    ]
    return [*connection.scalars(_OBSTACLES, parameters), *others]
