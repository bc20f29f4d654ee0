"""Metrics files, memory and error responses of gunicorn's workers."""

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
    """Create a folder for the metrics of all workers, unless the environment names one.

    The folder is not used if metrics are off.
    """
    if FOLDER in os.environ:
        return
    os.environ[FOLDER] = made = mkdtemp(prefix="frontdesk-metrics-")
    parent = os.getpid()

    def remove() -> None:
        """Only the parent removes the folder, because workers share it."""
        if os.getpid() == parent:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)


def forget_worker(pid: int) -> None:
    """Remove the gauges of a stopped worker, such as its open connections."""
    if "prometheus_client" in sys.modules:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]


# The parameter of `mallopt` for the minimum size of separately mapped blocks.
M_MMAP_THRESHOLD = -3


def release_large_blocks() -> None:
    """Have glibc return large blocks to the system.

    By default it raises the threshold once a large block is freed, and keeps later ones.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)


def problem(
    kind: type[Problem], app: object, detail: str | None
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
