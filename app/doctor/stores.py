"""Checks of the state store, and of the permissions of the files of databases."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from ..core.context import current_frontdesk
from ..core.db.base import sqlite_path
from ..core.doctor import Finding, exposed
from ..core.errors import Unavailable
from ..core.keystore import DatabaseKeystore, MemoryKeystore, check_keystore_writes
from ..core.process.folders import is_exposed

# How redis-py's client of one server fails at a node of a cluster.
CLUSTER_ERRORS = ("MovedError", "AskError", "ClusterCrossSlotError", "ClusterDownError")


def check_keystore() -> Iterator[Finding]:
    context = current_frontdesk
    workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
    if isinstance(context.keystore, MemoryKeystore):
        level: Literal["fault", "warning"] = "fault" if workers > 1 else "warning"
        number = "1 worker" if workers == 1 else f"{workers} workers"
        yield Finding(
            "keystore",
            level,
            f"The state store is in memory, with {number}. Each worker counts rate limits"
            " separately, a code by email works only in the worker that sent the email, and a"
            " restart deletes counters and codes. Configure Redis, or set CORE__KEYSTORE=database.",
        )
        return
    path = context.keystore.path() if isinstance(context.keystore, DatabaseKeystore) else None
    try:
        check_keystore_writes(context.keystore)
    except Unavailable as error:
        where: object = path or getattr(context.keystore, "address", "CORE__KEYSTORE=database")
        reason = str(error.__cause__ or "").splitlines() or ["no response"]
        fix = "Check that the store runs and has space."
        if type(error.__cause__).__name__ in CLUSTER_ERRORS:
            fix = "The server is a node of a Redis Cluster: begin CORE__REDIS_URL with redis+cluster://."
        yield Finding("keystore", "fault", f"{error.detail} at {where}: {reason[0]}. {fix}")


def check_private_files() -> Iterator[Finding]:
    """Find files that an earlier version, or another program, created readable for other users."""
    for database in _databases():
        files = [database, *(Path(f"{database}{end}") for end in ("-wal", "-shm", "-journal"))]
        if found := [file for file in files if is_exposed(file)]:
            yield exposed(found[0], f"chmod 600 {shlex.join(map(str, found))}")


def _databases() -> Iterator[Path]:
    context = current_frontdesk
    # The database of an application that mounts Frontdesk is the application's.
    url = context.db.engine.url
    is_ours = context.owns_application and url.get_backend_name() == "sqlite"
    if is_ours and (path := sqlite_path(url)):
        yield path
    if isinstance(context.keystore, DatabaseKeystore) and (path := context.keystore.path()):
        yield path
