from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from flask import Flask
from sqlalchemy import event

from ..core.db import rows


@contextmanager
def noted_queries(app: Flask) -> Iterator[list[str]]:
    """Every statement that the application sends to its database meanwhile."""
    statements: list[str] = []
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    ask = rows.ask

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    def note_plain(engine: Any, sql: str, values: Any) -> Any:
        statements.append(sql)
        return ask(engine, sql, values)

    event.listen(engine, "before_cursor_execute", note)
    try:
        with mock.patch.object(rows, "ask", note_plain):
            yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)
