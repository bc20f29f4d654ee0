"""PgBouncer in front of the tests' PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy.engine import make_url

from .backends import free_port, missing, wait_for_port

# No setting for time zones or prepared statements, as in Debian's configuration.
_SETTINGS = """
[databases]
* = host={host} port={server} user={user}{password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
"""


@contextmanager
def pgbouncer(database_url: str, mode: str) -> Iterator[str]:
    """The URL of the same database through a pooler in `session` or `transaction` mode."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        missing("pgbouncer is not installed")
    url = make_url(database_url)
    port = free_port()
    # PgBouncer refuses to run as root, and other users cannot enter pytest's folders.
    command = [str(program)]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    with TemporaryDirectory(prefix="frontdesk-pooler-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        file = folder / "pgbouncer.ini"
        # Few, so that clients share connections in transaction mode; a session keeps one.
        size = 4 if mode == "transaction" else 20
        file.write_text(
            _SETTINGS.format(
                host=url.host,
                server=url.port or 5432,
                user=url.username,
                password=f" password={url.password}" if url.password else "",
                port=port,
                mode=mode,
                size=size,
            )
        )
        file.chmod(0o644)
        process = subprocess.Popen(
            [*command, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_for_port(port, 20)
            through = url.set(host="127.0.0.1", port=port)
            yield through.render_as_string(hide_password=False)
        finally:
            # Since PgBouncer 1.23, SIGTERM waits until all clients have disconnected.
            process.kill()
            process.wait(timeout=10)
