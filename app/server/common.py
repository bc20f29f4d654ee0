"""What the workers of gunicorn and granian share: metrics files, memory, and their own answers."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
from contextlib import suppress
from tempfile import mkdtemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.errors import Problem

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


def problem(
    kind: type[Problem], app: object, detail: str | None = None
) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return the request id for the log, the headers and the body of a response.

    The headers have no CORS header: the origin of the request may not have arrived, or is not
    trusted.
    """
    # Here and not above: wsgi.py decides how the application is loaded.
    from ..core.request import new_request_id
    from ..core.web.problems import PROBLEM_TYPE, problem_document
    from ..core.web.request_hooks import DATA_POLICY, SECURITY_HEADERS

    body = problem_document(kind, detail or kind.detail, _problem_type_url(app))
    request_id = new_request_id()
    headers = [
        ("Content-Type", PROBLEM_TYPE),
        ("Content-Length", str(len(body))),
        ("X-Request-ID", request_id),
        *SECURITY_HEADERS,
        ("Content-Security-Policy", DATA_POLICY),
    ]
    return request_id, headers, body


def _problem_type_url(app: object) -> str:
    """Return the setting of the application, or its default for one without Frontdesk."""
    from ..core.config.settings import CoreSettings
    from ..core.context import EXTENSION, Context

    context = getattr(app, "extensions", {}).get(EXTENSION)
    if isinstance(context, Context):
        return context.settings.core.PROBLEM_TYPE_URL
    default: str = CoreSettings.model_fields["PROBLEM_TYPE_URL"].default
    return default
