"""Celery as the engine: it spreads the work over machines, and the rows stay the truth.

A job says no more than "there is something on this channel". One that is lost, doubled or late
does no harm: a sweep in every worker finds what is due. Whoever claims a full batch sends for
another worker before it begins, so that a broadcast soon keeps all of them busy.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...core.context import EXTENSION
from ...core.errors import SetupError
from ...core.process.logging import logs_json
from ...core.process.servers import forget_connections
from ...core.types import JsonObject
from .background import Background
from .engine import Engine
from .worker import Worker

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger(__name__)

TASK = "frontdesk.deliver"
BROKER_SECONDS = 4.0
# A worker that listens takes a RabbitMQ for gone that has said nothing for two of these.
HEARTBEAT_SECONDS = 10
RETRY_SECONDS = 1.0
# A job that was lost is made up for after so long. More often, jobs that say nothing new pile up.
SWEEP_SECONDS = 5.0

# With a new connection: the kept one may have been closed.
_ONCE_MORE = {"max_retries": 1, "interval_start": 0}


class CeleryEngine:
    """In a process that serves requests: a thread sends the jobs until the broker has them.

    With Frontdesk's Celery application, created at first use, or with the application's, whose
    workers then also deliver.
    """

    def __init__(self, broker_url: str = "", queue: str = "", hosts: Celery | None = None) -> None:
        self._broker_url = broker_url
        self._queue = queue
        self._hosts = hosts
        self._told: set[str] = set()
        self._thread = Background("frontdesk-jobs", self._tell)
        self._celery: Celery | None = None

    def attend(self, app: Flask, worker: Worker) -> None:
        self._app = app
        self._worker = worker
        if self._hosts is not None:
            # A worker asks for its tasks before anybody asks us.
            self._celery = self._serve(self._hosts)

    def start(self) -> None:
        """Do nothing: the workers look for due deliveries."""

    def wake(self, channels: Iterable[str]) -> None:
        self._told.update(channels)
        self._thread.wake()

    def stop(self, seconds: float) -> None:
        self._thread.stop(seconds)

    @property
    def celery(self) -> Celery:
        if self._celery is None:
            self._celery = self._serve(_make(self._broker_url, self._queue))
        return self._celery

    @property
    def queue(self) -> str:
        """Where the jobs wait, as the host's routes of tasks may say."""
        return str(self.celery.amqp.router.route({}, TASK)["queue"].name)

    def _serve(self, celery: Celery) -> Celery:
        """What a worker of this Celery application does for us."""
        from celery.signals import worker_process_init, worker_ready

        app, worker = self._app, self._worker

        def deliver(channel: str) -> None:
            with app.app_context():
                worker.work(channel, on_full=lambda: self.wake([channel]))

        def own_connections(**_: object) -> None:
            """In a worker's child: the pool it was forked with is its parent's."""
            forget_connections(app)

        def begin_sweeping(sender: Any, **_: Any) -> None:
            if sender.app is celery:
                sweeper = Background("frontdesk-sweep", self.sweep)
                # Held by the application, for as long as the worker lives.
                celery.sweeper = sweeper
                sweeper.wake()

        # Shared, it would become a task of every Celery application in the process.
        celery.task(name=TASK, ignore_result=True, shared=False)(deliver)
        worker_process_init.connect(own_connections, weak=False)
        worker_ready.connect(begin_sweeping, weak=False)
        return celery

    def _tell(self) -> float | None:
        """A job that does not reach the broker is sent again until it does."""
        while self._told:
            name = self._told.pop()
            try:
                # By the task and not by its name: a host's tests may have it run at once.
                self.celery.tasks[TASK].apply_async(
                    args=[name], retry=True, retry_policy=_ONCE_MORE, ignore_result=True
                )
            except Exception as error:
                self._told.add(name)
                log.warning("The broker is out of reach: %s", type(error).__name__)
                return RETRY_SECONDS
        return None

    def sweep(self) -> float:
        """In a worker: request the delivery of everything that is due."""
        try:
            waits = {name: self._worker.seconds_until_due(name) for name in self._worker.names()}
        except (DBAPIError, PoolTimeout) as error:
            log.warning("The queue of deliveries is out of reach: %s", type(error).__name__)
            return SWEEP_SECONDS
        due = [name for name, wait in waits.items() if wait is not None and wait <= 0]
        if due:
            self.wake(due)
        return SWEEP_SECONDS


def celery_of(app: Flask) -> Celery:
    """What `celery -A wsgi:celery worker` runs."""
    engine = app.extensions[EXTENSION].get(Engine)
    if not isinstance(engine, CeleryEngine):
        raise SetupError(
            "Set CORE__CELERY_BROKER_URL to deliver by Celery workers, or give frontdesk.init_app"
            " a Celery application: parts=Parts(celery=…)."
        )
    return engine.celery


def attends(engine: CeleryEngine, seconds: float) -> bool:
    """Whether a worker that runs now takes our jobs."""
    replies = engine.celery.control.inspect(timeout=seconds).active_queues() or {}
    return any(each["name"] == engine.queue for queues in replies.values() for each in queues)


def _make(url: str, queue: str) -> Celery:
    from celery import Celery
    from celery.apps import worker as celery_worker
    from celery.signals import celeryd_init
    from celery.utils.nodenames import default_nodename

    celery = Celery("frontdesk", broker=url, set_as_current=False)
    celery.conf.update(
        task_default_queue=queue,
        task_ignore_result=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        broker_connection_timeout=BROKER_SECONDS,
        broker_heartbeat=HEARTBEAT_SECONDS,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_transport(url),
    )

    def take_a_name(sender: str, instance: Any, **_: Any) -> None:
        """Of two nodes with the same name on one broker, one does nothing."""
        if instance.app is celery and sender == default_nodename(None):
            instance.hostname = sender.replace("@", f"-{os.getpid()}@", 1)

    def log_as_json(instance: Any, **_: Any) -> None:
        """A worker prints its banner, its warnings and that it stops as plain text."""
        if instance.app is celery and logs_json():
            instance.quiet = True
            logging.captureWarnings(True)
            setattr(celery_worker, "safe_say", lambda message, *_: log.info("%s", message))  # noqa: B010
            log.info("Worker %s takes from the queue '%s'", instance.hostname, queue)

    celeryd_init.connect(take_a_name, weak=False)
    celeryd_init.connect(log_as_json, weak=False)
    return celery


def _transport(url: str) -> JsonObject:
    """A silent broker must not hold a thread for ever, nor a lost one end the worker."""
    if url.startswith(("redis", "sentinel")):
        return {
            "socket_connect_timeout": BROKER_SECONDS,
            "socket_timeout": 2 * BROKER_SECONDS,
            # How soon a worker that listens finds that the other end is gone without a word.
            "health_check_interval": BROKER_SECONDS,
            # Jobs are hints and need no receipts. With receipts, a worker that loses its connection
            # gives open jobs back over it, and now and then dies of the error.
            "ack_emulation": False,
        }
    if url.startswith(("amqp", "pyamqp")):
        return {
            "connect_timeout": BROKER_SECONDS,
            "read_timeout": 2 * BROKER_SECONDS,
            "write_timeout": 2 * BROKER_SECONDS,
            # Otherwise a job is treated as sent once written to a connection that may be broken.
            "confirm_publish": True,
        }
    return {}
