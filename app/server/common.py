"""What the workers of gunicorn and granian share: metrics files, memory, and their own answers."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
from contextlib import suppress
from tempfile import mkdtemp

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def count_together() -> None:
    """A folder for the counts of all workers, unless the environment names one; unused while the
    metrics are off."""
    if FOLDER in os.environ:
        return
    os.environ[FOLDER] = made = mkdtemp(prefix="frontdesk-metrics-")
    parent = os.getpid()

    def remove() -> None:
        """A worker that ends leaves them to the others."""
        if os.getpid() == parent:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)


def forget_worker(pid: int) -> None:
    """The connections of a worker that is gone are open no more."""
    if "prometheus_client" in sys.modules:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]


# What `mallopt` calls the size from which a block is mapped by itself.
M_MMAP_THRESHOLD = -3


def release_large_blocks() -> None:
    """Once a large block was freed, glibc keeps such blocks on its heap, where they may stay for
    ever: told a size, it goes on giving each back to the system."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)


def problem(status: int, code: str, detail: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """The id under which the log tells of it, the headers, and the body.

    No CORS header among them: what was to name the origin may not have come in, or not be believed.
    """
    # Here and not above: wsgi.py decides how the application is loaded.
    from ..core.request import new_request_id
    from ..core.web.problems import PROBLEM_TYPE, problem_document
    from ..core.web.request_hooks import DATA_POLICY, SECURITY_HEADERS

    body = problem_document(status, code, detail)
    request_id = new_request_id()
    headers = [
        ("Content-Type", PROBLEM_TYPE),
        ("Content-Length", str(len(body))),
        ("X-Request-ID", request_id),
        *SECURITY_HEADERS,
        ("Content-Security-Policy", DATA_POLICY),
    ]
    return request_id, headers, body
