"""Databases for tests of partitions: migrated, and with rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from flask import Flask
from sqlalchemy.engine import make_url

from .backends import POSTGRES


@contextmanager
def copied_database(template: str) -> Iterator[str]:
    """Create a copy of a database without connections, and yield its URL."""
    name = f"frontdesk_copied_{os.getpid()}"
    url = make_url(template)
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{url.database}"')
        server.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        try:
            yield url.set(database=name).render_as_string(hide_password=False)
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def run(app: Flask, *arguments: str, code: int = 0) -> str:
    """Run a command and return its output, or its error message."""
    result = app.test_cli_runner().invoke(args=list(arguments))
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return str(result.output)


def partitions_of(connection: psycopg.Connection[tuple[object, ...]], table: str) -> list[str]:
    rows = connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = %s::regclass ORDER BY 1",
        [table],
    )
    return [str(name) for (name,) in rows]


@contextmanager
def role(connection: psycopg.Connection[tuple[object, ...]]) -> Iterator[str]:
    """Create a user of the server and yield its name; what it owns is the test's afterwards."""
    name = f"frontdesk_role_{os.getpid()}"
    connection.execute(f"CREATE ROLE {name} LOGIN")
    try:
        yield name
    finally:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [name]
        )
        connection.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")
