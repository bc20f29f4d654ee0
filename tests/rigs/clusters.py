"""A PostgreSQL server that a test can stop, unlike the machine's server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from .backends import missing, reserved_port


class Cluster:
    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self.folder = folder
        self.data = folder / "data"
        self.port = reserved_port()
        self._command_prefix = as_postgres(folder)

    def make(self) -> None:
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "-D", self.data)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off -k {self.data}"
        # A standby without a primary can be promoted only between two attempts to connect.
        options += " -c wal_retrieve_retry_interval=200ms"
        self._control("start", "-o", options, "-l", self.folder / "log")

    def copy(self, of: Cluster) -> None:
        """Become a hot standby of another server."""
        self._run("pg_basebackup", "-R", "-h127.0.0.1", f"-p{of.port}", "-Upostgres", "-cfast",
                  "-D", self.data)  # fmt: skip

    def follow(self, primary: Cluster) -> None:
        """Start again as a hot standby of the server that was promoted in its place."""
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = 'host=127.0.0.1 port={primary.port} user=postgres'\n")
        (self.data / "standby.signal").touch()
        self.start()

    def wait_for_standby(self, yes: bool) -> None:
        """Have commits wait until the standby has stored them, or not."""
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            names = "*" if yes else ""
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            connection.execute("SELECT pg_reload_conf()")
            until = time.monotonic() + 20
            query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            while yes and connection.execute(query).fetchone() != (1,):
                assert time.monotonic() < until, "no standby is synchronous"
                time.sleep(0.05)

    def execute(self, *statements: str) -> None:
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def delay_replay(self, delay: str) -> None:
        """Have a standby replay each commit later by its time, such as `3s`."""
        self.execute(
            f"ALTER SYSTEM SET recovery_min_apply_delay = '{delay}'", "SELECT pg_reload_conf()"
        )

    def pause_replay(self) -> None:
        """Have a standby replay nothing more, after it has replayed what it has."""
        self.execute("SELECT pg_wal_replay_pause()")
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            until = time.monotonic() + 20
            query = "SELECT pg_get_wal_replay_pause_state()"
            while connection.execute(query).fetchone() != ("paused",):
                assert time.monotonic() < until, "the standby does not pause"
                time.sleep(0.02)

    def resume_replay(self) -> None:
        self.execute("SELECT pg_wal_replay_resume()")

    def wait_for_replay(self, standby: Cluster) -> None:
        """Wait until a standby has replayed everything."""
        with (
            psycopg.connect(self.url.replace("+psycopg", "")) as here,
            psycopg.connect(standby.url.replace("+psycopg", ""), autocommit=True) as there,
        ):
            position = here.execute("SELECT pg_current_wal_lsn()").fetchone()
            query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
            until = time.monotonic() + 20
            while there.execute(query, position).fetchone() != (True,):
                assert time.monotonic() < until, "the standby does not catch up"
                time.sleep(0.02)

    def wait_for_delay(self, standby: Cluster) -> None:
        """Wait until a standby follows its new delay: its settings take a moment."""
        with (
            psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as here,
            psycopg.connect(standby.url.replace("+psycopg", ""), autocommit=True) as there,
        ):
            query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
            until = time.monotonic() + 20
            replays_at_once = True
            while replays_at_once:
                assert time.monotonic() < until, "the standby does not delay its replay"
                here.execute("SELECT pg_current_xact_id()")
                position = here.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
                time.sleep(0.05)
                replays_at_once = there.execute(query, position).fetchone() == (True,)

    @contextmanager
    def tls(self, key_and_certificate: bytes) -> Iterator[None]:
        """Accept connections over TLS, next to others."""
        file = self.data / "server.pem"
        file.write_bytes(key_and_certificate)
        file.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(file, "postgres")
        names, reload = ("ssl_cert_file", "ssl_key_file"), "SELECT pg_reload_conf()"
        files = [f"ALTER SYSTEM SET {name} = 'server.pem'" for name in names]
        self.execute(*files, "ALTER SYSTEM SET ssl = on", reload)
        try:
            yield
        finally:
            self.execute("ALTER SYSTEM SET ssl = off", reload)

    def promote(self) -> None:
        self._control("promote")

    def stop(self, mode: str = "fast") -> None:
        self._control("stop", "-m", mode)

    def kill(self) -> None:
        """Kill all processes of the server, as a lost machine does."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        pids = (postmaster, *map(int, children))
        for pid in pids:
            # A child ends by itself when it sees the end of its parent.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # A server does not start while a process of its predecessor uses the shared memory.
        until = time.monotonic() + 20
        while any(map(_is_running, pids)):
            assert time.monotonic() < until, "the killed server still runs"
            time.sleep(0.02)
        # A killed process whose parent has not waited for it seems to run.
        (self.data / "postmaster.pid").unlink()
        (self.data / f".s.PGSQL.{self.port}.lock").unlink()

    def erase(self) -> None:
        """Delete the data of a server that does not run."""
        shutil.rmtree(self.data)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def _control(self, *arguments: object) -> None:
        self._run("pg_ctl", "-s", "-w", "-D", self.data, *arguments)

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self._command_prefix, str(self._programs / program), *map(str, arguments)]
        # No pipe: the server inherits the output, and the pipe would never end.
        subprocess.run(
            command, check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def _is_running(pid: int) -> bool:
    """Return whether the process exists and is no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def as_postgres(folder: Path) -> list[str]:
    """Return the command's prefix that changes the user: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def postgres_programs() -> Path:
    """Return the folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        missing("PostgreSQL's programs are not installed")
    return (found[-1] if found else Path(str(on_path))).parent


@contextmanager
def postgres_cluster(of: Cluster | None = None) -> Iterator[Cluster]:
    """Start a server; with `of`, a standby of that server."""
    programs = postgres_programs()
    # Not in pytest's folder, which other users cannot enter.
    with TemporaryDirectory(prefix="frontdesk-cluster-") as folder:
        cluster = Cluster(programs, Path(folder))
        cluster.make() if of is None else cluster.copy(of)
        cluster.start()
        try:
            yield cluster
        finally:
            # A test may have stopped it.
            with suppress(subprocess.CalledProcessError):
                cluster.stop("immediate")
