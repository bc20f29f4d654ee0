"""Starts the engine in processes that serve requests, for messages that other processes stored.

Not every server calls `when_serving`, and a process may be forked after that call, so the first
request of each process starts the engine too.
"""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask
from sqlalchemy import exists, literal, or_, select, table
from sqlalchemy.exc import DBAPIError

from ..core.context import Context, WhenServing
from ..core.process.servers import after_fork
from .worker.background import FIRST_SWEEP_SECONDS, SWEEP_SECONDS, Background


class DeliveryStart:
    """Starts the engine. An application that does not use the queue imports it for its first row.

    Its thread reads with one query whether the queue and the tables of background tasks are empty.
    """

    def __init__(self, context: Context, work_tables: Sequence[str], is_used: bool) -> None:
        self._context = context
        tables = (exists(select(literal(1)).select_from(table(name))) for name in work_tables)
        self._has_rows = select(or_(*tables))
        self._is_used = is_used
        self._watch = Background("frontdesk-queue", self._look)

    def start(self) -> None:
        if self._is_used:
            self._start_engine()
        elif not in_memory(self._context):
            self._watch.begin(FIRST_SWEEP_SECONDS)

    def _look(self) -> float | None:
        with self._context.app.app_context():
            if not self._has_work():
                return SWEEP_SECONDS
            self._start_engine()
        return None

    def _has_work(self) -> bool:
        try:
            with self._context.engine.connect() as connection:
                return bool(connection.scalar(self._has_rows))
        except DBAPIError:
            # A table is missing, or the database is away: the engine handles and logs both.
            return True

    def _start_engine(self) -> None:
        from .worker.engine import Engine

        self._context.get(Engine).start()  # type: ignore[type-abstract]


class FirstRequest:
    """Calls a function before the first request of each process."""

    def __init__(self, app: Flask, start: DeliveryStart) -> None:
        self._app = app
        self._engine_start = start
        self._listen()
        after_fork(self._listen)

    def _listen(self) -> None:
        hooks = self._app.before_request_funcs.setdefault(None, [])
        if self._start not in hooks:
            hooks.append(self._start)

    def _start(self) -> None:
        hooks = self._app.before_request_funcs[None]
        # A new list, because another request may iterate over this one.
        self._app.before_request_funcs[None] = [each for each in hooks if each != self._start]
        self._engine_start.start()


def start_with_first_request(context: Context, work_tables: Sequence[str]) -> None:
    """`work_tables` are those of the queue and of the worker's background tasks."""
    is_used = context.owns_application or has_own_engine(context)
    start = DeliveryStart(context, work_tables, is_used)
    context.add(start)
    context.contribute(WhenServing(start.start))
    context.add(FirstRequest(context.app, start))


def has_own_engine(context: Context) -> bool:
    """Return whether the application delivers by Celery or by its own engine, which has to
    know the worker from the start."""
    broker = context.settings.core.CELERY_BROKER_URL
    has_broker = broker is not None and broker.get_secret_value() != ""
    return has_broker or any(context.parts.get(name) is not None for name in ("engine", "celery"))


def in_memory(context: Context) -> bool:
    """Return whether all threads share the connection to the database."""
    url = context.engine.url
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")
