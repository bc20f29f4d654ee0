"""Celery as the engine: it distributes the work over machines.

A Celery job only says that a channel has new deliveries, which are rows in the database. Lost,
repeated and late jobs are harmless, because a sweep in every worker finds due deliveries. A worker
that claims a full batch wakes another worker, so that a broadcast soon uses all workers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import Flask
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...core.config.redis_url import RedisServers, parse_servers
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
# A worker closes the connection to RabbitMQ after two intervals without a heartbeat.
HEARTBEAT_SECONDS = 10
RETRY_SECONDS = 1.0
# The delay after a lost job. Shorter sweeps would fill the queue with needless jobs.
SWEEP_SECONDS = 5.0

# The second attempt opens a new connection, because the open one may be closed by the broker.
_RETRY_POLICY = {"max_retries": 1, "interval_start": 0}


class CeleryEngine:
    """Publishes jobs from a thread of the serving process, until the broker has received them.

    Uses the application's Celery object, so that its workers also deliver, or creates one at first
    use.
    """

    def __init__(
        self, broker_url: str = "", queue: str = "", application_celery: Celery | None = None
    ) -> None:
        self._broker_url = broker_url
        self._queue = queue
        self._application_celery = application_celery
        self._channels: set[str] = set()
        self._thread = Background("frontdesk-jobs", self._publish)
        self._celery: Celery | None = None

    def bind(self, app: Flask, worker: Worker) -> None:
        self._app = app
        self._worker = worker
        if self._application_celery is not None:
            # A Celery worker needs its tasks before the first delivery.
            self._celery = self._register(self._application_celery)

    def start(self) -> None:
        """Do nothing: the Celery workers look for due deliveries."""

    def wake(self, channels: Iterable[str]) -> None:
        self._channels.update(channels)
        self._thread.wake()

    def stop(self, seconds: float) -> None:
        self._thread.stop(seconds)

    @property
    def celery(self) -> Celery:
        if self._celery is None:
            self._celery = self._register(_create_celery(self._broker_url, self._queue))
        return self._celery

    @property
    def queue(self) -> str:
        """The queue of the jobs, after the application's task routes."""
        return str(self.celery.amqp.router.route({}, TASK)["queue"].name)

    def _register(self, celery: Celery) -> Celery:
        """Register the delivery task and the sweep with a Celery application."""
        from celery.signals import worker_process_init, worker_ready

        app, worker = self._app, self._worker

        def deliver(channel: str) -> None:
            with app.app_context():
                worker.work(channel, on_full=lambda: self.wake([channel]))

        def drop_connections(**_: object) -> None:
            """Forget the connection pool in a forked child: it belongs to the parent."""
            forget_connections(app)

        def start_sweeping(sender: Any, **_: object) -> None:
            if sender.app is celery:
                sweeper = Background("frontdesk-sweep", self.sweep)
                # The reference keeps the thread alive as long as the worker.
                celery.sweeper = sweeper
                sweeper.wake()

        # A shared task would be registered with every Celery application in the process.
        celery.task(name=TASK, ignore_result=True, shared=False)(deliver)
        worker_process_init.connect(drop_connections, weak=False)
        worker_ready.connect(start_sweeping, weak=False)
        return celery

    def _publish(self) -> float | None:
        """Publish the jobs. Return the seconds until the next attempt if the broker is away."""
        while self._channels:
            name = self._channels.pop()
            try:
                # The task object, not its name: with `task_always_eager`, tests run it at once.
                self.celery.tasks[TASK].apply_async(
                    args=[name], retry=True, retry_policy=_RETRY_POLICY, ignore_result=True
                )
            except Exception as error:
                self._channels.add(name)
                log.warning("The broker cannot be reached: %s", type(error).__name__)
                return RETRY_SECONDS
        return None

    def sweep(self) -> float:
        """Publish jobs for all due deliveries. Runs in Celery workers."""
        try:
            waits = {name: self._worker.seconds_until_due(name) for name in self._worker.names()}
        except (DBAPIError, PoolTimeout) as error:
            log.warning("The queue of deliveries is unavailable: %s", type(error).__name__)
            return SWEEP_SECONDS
        due = [name for name, wait in waits.items() if wait is not None and wait <= 0]
        if due:
            self.wake(due)
        return SWEEP_SECONDS


def celery_of(app: Flask) -> Celery:
    """Return the Celery application for `celery -A wsgi:celery worker`."""
    engine = app.extensions[EXTENSION].get(Engine)
    if not isinstance(engine, CeleryEngine):
        raise SetupError(
            "Set CORE__CELERY_BROKER_URL to deliver by Celery workers, or give frontdesk.init_app"
            " a Celery application: parts=Parts(celery=…)."
        )
    return engine.celery


def has_worker(engine: CeleryEngine, seconds: float) -> bool:
    """Return whether a running Celery worker consumes the queue."""
    replies = engine.celery.control.inspect(timeout=seconds).active_queues() or {}
    return any(each["name"] == engine.queue for queues in replies.values() for each in queues)


def _create_celery(url: str, queue: str) -> Celery:
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
    if (servers := parse_servers(url)) is not None:
        celery.conf.update(_sentinel(servers, celery.conf.broker_transport_options))

    def set_unique_name(sender: str, instance: Any, **_: object) -> None:
        """Add the process id to a default name: two nodes with one name conflict on a broker."""
        if instance.app is celery and sender == default_nodename(None):
            instance.hostname = sender.replace("@", f"-{os.getpid()}@", 1)

    def log_as_json(instance: Any, **_: object) -> None:
        """Log the worker's banner and warnings as JSON, which Celery prints as plain text."""
        if instance.app is celery and logs_json():
            instance.quiet = True
            logging.captureWarnings(True)
            setattr(celery_worker, "safe_say", lambda message, *_: log.info("%s", message))  # noqa: B010
            log.info("Worker %s consumes the queue '%s'", instance.hostname, queue)

    celeryd_init.connect(set_unique_name, weak=False)
    celeryd_init.connect(log_as_json, weak=False)
    return celery


def _sentinel(servers: RedisServers, transport: JsonObject) -> JsonObject:
    """Return Celery's settings for a master that sentinels monitor: a URL of each sentinel, with
    the user and password of the Redis servers."""
    from redis.connection import parse_url

    one = urlsplit(servers.url)
    login = "".join(one.netloc.rpartition("@")[:2]).removeprefix("@")
    parse: Any = parse_url  # has no types
    tls = {name: value for name, value in parse(servers.url).items() if name.startswith("ssl_")}
    if servers.uses_tls:
        tls.setdefault("ssl_cert_reqs", "required")
    timeouts = {name: value for name, value in transport.items() if name.startswith("socket_")}
    return {
        "broker_url": ";".join(
            f"sentinel://{login}{f'[{host}]' if ':' in host else host}:{port}{one.path}"
            for host, port in servers.addresses
        ),
        "broker_use_ssl": tls or False,
        "broker_transport_options": {
            **transport,
            "master_name": servers.master,
            "sentinel_kwargs": {
                **timeouts,
                **servers.sentinel_login,
                **({"ssl": True, **tls} if tls else {}),
            },
        },
    }


def _transport(url: str) -> JsonObject:
    """Return transport options with timeouts: a silent broker must not block a thread forever, and
    a lost connection must not end the worker."""
    if url.startswith(("redis", "sentinel")):
        return {
            "socket_connect_timeout": BROKER_SECONDS,
            "socket_timeout": 2 * BROKER_SECONDS,
            # How soon a waiting worker detects a lost connection.
            "health_check_interval": BROKER_SECONDS,
            # Jobs are hints and need no acknowledgement. With acknowledgements, a worker that loses
            # its connection sometimes exits with an error.
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
