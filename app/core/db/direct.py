"""Connections to PostgreSQL without a pooler, for statements that belong to one session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import current_app
from sqlalchemy import Connection, Engine, create_engine

from .base import engine_options


@contextmanager
def connect_directly(engine: Engine) -> Iterator[Connection]:
    """Yield a connection to PostgreSQL without a pooler, if the settings have a URL for that."""
    url = current_app.extensions["frontdesk"].settings.core.DATABASE_DIRECT_URL
    if url is None or engine.dialect.name != "postgresql":
        with engine.connect() as connection:
            yield connection
        return
    from .postgres import prepare_postgres  # imports the driver

    direct = create_engine(url.get_secret_value(), **engine_options(url.get_secret_value(), 1))
    prepare_postgres(direct)
    try:
        with direct.connect() as connection:
            yield connection
    finally:
        direct.dispose()
