"""Production: `gunicorn -c gunicorn.conf.py wsgi:app`. Options on the command line win."""

from __future__ import annotations

import os
import signal
from typing import Any

from gunicorn.config import Bind

from app.server.common import count_together, forget_worker

# Without BIND, gunicorn's own rule holds: 127.0.0.1:8000, or 0.0.0.0:$PORT.
bind = os.environ["BIND"].split(",") if "BIND" in os.environ else list(Bind.default)
# The application tells by where a request came in whether it is one for the metrics.
if "CORE__METRICS_BIND" in os.environ:
    bind.append(os.environ["CORE__METRICS_BIND"])

# More than one needs a keystore that they share (CORE__REDIS_URL, or CORE__KEYSTORE=database).
workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
# gthread, whose threads wait for no slow client.
worker_class = "app.server.worker.BufferedWorker"
# More than AUTH__LOGINS_AT_ONCE, so that a flood of sign-ins leaves some to the other routes. They
# may be more than CORE__DATABASE_POOL_SIZE: a request holds a connection for its queries alone.
threads = int(os.environ.get("WEB_THREADS", "32"))

# With it a worker stays under the usual 1024 open files; then the slowest client makes room.
worker_connections = 800

# One start for all workers, and one random secret where none is set.
preload_app = True

# No header of a client's becomes part of the environment, and a proxy is believed about the scheme
# and the address where CORE__TRUSTED_PROXIES says so.
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
# Whom to believe is not looked up at each request, since nobody is believed about anything.
forwarded_allow_ips = "*"

# The longest line that still has an end: receivers may be listed in a query. A request with more of
# them than fit here lists them in its body.
limit_request_line = 8190

keepalive = 5
timeout = 30
graceful_timeout = 30
if os.access("/dev/shm", os.W_OK | os.X_OK):  # noqa: S108
    # The workers' sign of life must not wait for a busy disk.
    worker_tmp_dir = "/dev/shm"  # noqa: S108

# One for each user of the machine, whatever it serves: nothing here has a use for it.
control_socket_disable = True

# What stands in front logs every request; `--access-logfile -` does it here.
accesslog = None

# gunicorn's own lines have the application's form: JSON in production.
logger_class = "app.server.worker.ApplicationLog"

count_together()


def when_ready(server: Any) -> None:
    # Here and not above: wsgi.py decides how the application is loaded.
    from app.monitoring.requests import is_unheard

    if is_unheard(server.app.wsgi(), [listener.getsockname() for listener in server.LISTENERS]):
        # It is set in .env alone, or sockets of systemd or the command line are used instead.
        server.log.error("No socket is at CORE__METRICS_BIND: nobody can read the metrics.")


def post_fork(server: Any, worker: Any) -> None:
    from app.core.process.servers import forget_connections

    forget_connections(server.app.wsgi())
    worker.noted_signals = server.SIG_QUEUE


def post_worker_init(worker: Any) -> None:
    """A stop that comes while a worker starts is noted for its parent, and not heard again."""
    while not worker.noted_signals.empty():
        if worker.noted_signals.get() in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            worker.alive = False
    for begin in worker.wsgi.extensions["frontdesk"].when_serving:
        begin()


def child_exit(server: Any, worker: Any) -> None:
    forget_worker(worker.pid)
