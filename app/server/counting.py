"""Where workers count for the metrics, so that any can answer for all."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
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
