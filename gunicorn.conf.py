"""Production: `gunicorn -c gunicorn.conf.py wsgi:app`. Options on the command line win."""

from __future__ import annotations

import os
import signal
from typing import Any

from gunicorn.config import Bind

from app.server.common import count_together, forget_worker

# Without BIND, gunicorn's own rule holds: 127.0.0.1:8000, or 0.0.0.0:$PORT.
bind = os.environ["BIND"].split(",") if "BIND" in os.environ else list(Bind.default)
# The application recognizes requests for metrics by the socket.
if "CORE__METRICS_BIND" in os.environ:
    bind.append(os.environ["CORE__METRICS_BIND"])

# Several workers need a shared state store (CORE__REDIS_URL, or CORE__KEYSTORE=database).
workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
# gthread with threads that do not wait for slow clients.
worker_class = "app.server.worker.BufferedWorker"
# More than AUTH__LOGINS_AT_ONCE, so that many sign-ins leave threads for other routes. Threads can
# exceed CORE__DATABASE_POOL_SIZE, because a request holds a connection only for its queries.
threads = int(os.environ.get("WEB_THREADS", "32"))

# Below the usual limit of 1024 open files; beyond it, the slowest client is disconnected.
worker_connections = 800

# The application is loaded once for all workers, with one random secret key if none is set.
preload_app = True

# gunicorn trusts no headers. The application trusts proxies according to CORE__TRUSTED_PROXIES.
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
# Skips a check of each request, which has no effect because no header is trusted.
forwarded_allow_ips = "*"

# gunicorn's maximum, because a query can list recipients; a longer list belongs in the body.
limit_request_line = 8190

keepalive = 5
timeout = 30
graceful_timeout = 30
if os.access("/dev/shm", os.W_OK | os.X_OK):  # noqa: S108
    # The workers' heartbeat must not wait for a busy disk.
    worker_tmp_dir = "/dev/shm"  # noqa: S108

# The control socket is not used.
control_socket_disable = True

# The proxy in front logs requests; `--access-logfile -` logs them here.
accesslog = None

# gunicorn's logs use the application's format: JSON in production.
logger_class = "app.server.worker.ApplicationLog"

count_together()


def when_ready(server: Any) -> None:
    # Tokens import this library at the first sign-in. Imported here, its memory is shared by all
    # workers.
    import flask_jwt_extended  # noqa: F401

    # Imported here, because wsgi.py loads the application in its own way.
    from app.monitoring.requests import is_unheard

    if is_unheard(server.app.wsgi(), [listener.getsockname() for listener in server.LISTENERS]):
        # The setting is only in .env, or systemd or the command line provide the sockets.
        server.log.error("No socket listens at CORE__METRICS_BIND: the metrics cannot be read.")


def post_fork(server: Any, worker: Any) -> None:
    from app.core.process.servers import forget_connections

    forget_connections(server.app.wsgi())
    worker.noted_signals = server.SIG_QUEUE


def post_worker_init(worker: Any) -> None:
    """Stop if a signal arrived while the worker started, which gunicorn would ignore."""
    while not worker.noted_signals.empty():
        if worker.noted_signals.get() in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            worker.alive = False
    for begin in worker.wsgi.extensions["frontdesk"].when_serving:
        begin()


def child_exit(server: Any, worker: Any) -> None:
    forget_worker(worker.pid)
