"""Production: `gunicorn -c gunicorn.conf.py wsgi:app`. Options on the command line win."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

# Without BIND, gunicorn's own rule holds: 127.0.0.1:8000, or 0.0.0.0:$PORT.
if "BIND" in os.environ:
    bind = os.environ["BIND"]

# More than one needs a keystore that they share (CORE__REDIS_URL, or CORE__KEYSTORE=database).
workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
worker_class = "gthread"
# More than AUTH__LOGINS_AT_ONCE, so that a flood of sign-ins leaves some to the other routes. They
# may be more than CORE__DATABASE_POOL_SIZE: a request holds a connection for its queries alone.
threads = int(os.environ.get("WEB_THREADS", "32"))

# One start for all workers, and one random secret where none is set.
preload_app = True

# The longest line that still has an end: receivers may be listed in a query. A request with more of
# them than fit here lists them in its body.
limit_request_line = 8190

keepalive = 5
timeout = 30
graceful_timeout = 30
if Path("/dev/shm").is_dir():  # noqa: S108
    # The workers' sign of life must not wait for a busy disk.
    worker_tmp_dir = "/dev/shm"  # noqa: S108

# One for each user of the machine, whatever it serves: nothing here has a use for it.
control_socket_disable = True

# What stands in front logs every request; `--access-logfile -` does it here.
accesslog = None

# Where workers count for the metrics, so that one can answer for all; unused while they are off.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = made = mkdtemp(prefix="frontdesk-metrics-")
    parent = os.getpid()

    def remove_metrics() -> None:
        """A worker that ends leaves them to the others."""
        if os.getpid() == parent:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove_metrics)


def when_ready(server: Any) -> None:
    """From here on gunicorn's own lines have the application's form too: JSON in production."""
    server.log.error_log.handlers.clear()
    server.log.error_log.propagate = True


def post_fork(server: Any, worker: Any) -> None:
    # Here and not above: wsgi.py decides how the application is loaded.
    from app.core.forking import forget_connections

    forget_connections(server.app.wsgi())


def child_exit(server: Any, worker: Any) -> None:
    """The connections of a worker that is gone are open no more."""
    if "prometheus_client" in sys.modules:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
