"""Gives a table and its partitions exactly the permissions of another table."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, text

from .names import execute, quoted

# An owner without any GRANT or REVOKE on the table has the default permissions.
_GRANTS = text(
    "SELECT CAST(CAST(relation.oid AS regclass) AS text), attname, privilege_type,"
    " CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,"
    " is_grantable FROM pg_class AS relation LEFT JOIN LATERAL ("
    "SELECT CAST('' AS name) AS attname, privilege_type, grantee, is_grantable"
    " FROM aclexplode(coalesce(relacl, acldefault('r', relowner)))"
    " UNION ALL SELECT attname, privilege_type, grantee, is_grantable"
    " FROM pg_attribute, aclexplode(attacl) WHERE attrelid = relation.oid AND NOT attisdropped"
    ") AS granted ON true WHERE relation.oid = to_regclass(:name) OR (CAST(:parts AS boolean)"
    " AND relation.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(:name)))"
)


class TableGrant(NamedTuple):
    # Empty for a permission on the whole table.
    column: str
    privilege: str
    # As SQL, or PUBLIC.
    role: str
    may_grant: bool


def copy_permissions(connection: Connection, source: str, target: str) -> None:
    """Give the target and its partitions the permissions of the source.

    New tables get other permissions: the owner has all, and ALTER DEFAULT PRIVILEGES adds more.
    """
    [expected] = _grants(connection, source, parts=False).values()
    found = _grants(connection, target, parts=True)
    different = {name: grants for name, grants in found.items() if grants != expected}
    if not different:
        return
    tables = ", ".join(different)
    if roles := {grant.role for grants in different.values() for grant in grants}:
        # This includes the permissions on columns.
        execute(connection, f"REVOKE ALL ON {tables} FROM {', '.join(sorted(roles))} CASCADE")
    for column, privilege, role, may_grant in sorted(expected):
        columns = f" ({quoted(column)})" if column else ""
        option = " WITH GRANT OPTION" if may_grant else ""
        execute(connection, f"GRANT {privilege}{columns} ON {tables} TO {role}{option}")


def _grants(connection: Connection, name: str, *, parts: bool) -> dict[str, set[TableGrant]]:
    """Return the permissions on a table, and on its partitions, by their names as SQL."""
    found: dict[str, set[TableGrant]] = {}
    for table, column, privilege, role, may_grant in connection.execute(
        _GRANTS, {"name": name, "parts": parts}
    ):
        grants = found.setdefault(table, set())
        if privilege is not None:
            grants.add(TableGrant(column, privilege, role, may_grant))
    return found
