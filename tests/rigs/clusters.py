"""A PostgreSQL server that a test can stop, unlike the machine's server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .backends import missing, reserved_port


class Cluster:
    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._data = folder / "data"
        self.port = reserved_port()
        self._command_prefix = _as_postgres(folder)

    def make(self) -> None:
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "-D", self._data)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off -k {self._data}"
        self._control("start", "-o", options, "-l", self._data.parent / "log")

    def copy(self, of: Cluster) -> None:
        """Become a hot standby of another server."""
        self._run("pg_basebackup", "-R", "-h127.0.0.1", f"-p{of.port}", "-Upostgres", "-cfast",
                  "-D", self._data)  # fmt: skip

    def promote(self) -> None:
        self._control("promote")

    def stop(self, mode: str = "fast") -> None:
        self._control("stop", "-m", mode)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def _control(self, *arguments: object) -> None:
        self._run("pg_ctl", "-s", "-w", "-D", self._data, *arguments)

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self._command_prefix, str(self._programs / program), *map(str, arguments)]
        # No pipe: the server inherits the output, and the pipe would never end.
        subprocess.run(
            command, check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def _as_postgres(folder: Path) -> list[str]:
    """Return the command's prefix that changes the user: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


@contextmanager
def postgres_cluster(of: Cluster | None = None) -> Iterator[Cluster]:
    """Start a server; with `of`, a standby of that server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        missing("PostgreSQL's programs are not installed")
    programs = (found[-1] if found else Path(str(on_path))).parent
    # Not in pytest's folder, which other users cannot enter.
    with TemporaryDirectory(prefix="frontdesk-cluster-") as folder:
        cluster = Cluster(programs, Path(folder))
        cluster.make() if of is None else cluster.copy(of)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop("immediate")
