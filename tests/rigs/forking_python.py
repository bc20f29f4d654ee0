"""A Python for short commands, which forks a process that has imported Frontdesk and its libraries:
their imports take most of the time of a command.

Each command still has a separate process, with its own folder, variables, input and output.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

# Imported before the fork: what each command of an application with accounts imports.
MODULES = (
    "alembic.command",
    "flask.cli",
    "flask_frontdesk.administration.assembly",
    "flask_frontdesk.audit.service",
    "flask_frontdesk.auth.blueprint",
    "flask_frontdesk.blueprints",
    "flask_frontdesk.broadcasts.assembly",
    "flask_frontdesk.core.db.migrations",
    "flask_frontdesk.deletion.assembly",
    "flask_frontdesk.exports.assembly",
    "flask_frontdesk.frontdesk",
    "flask_frontdesk.health",
    "flask_frontdesk.notifications.assembly",
    "flask_frontdesk.profiles.assembly",
    "flask_frontdesk.registration.service",
    "flask_frontdesk.workspaces.assembly",
    "flask_migrate.cli",
    "flask_sqlalchemy.cli",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
)
PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as peer:
    peer.connect({address!r})
    command = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n"
    sent = socket.send_fds(peer, [command], [0, 1, 2])
    peer.sendall(command[sent:])
    code = int(peer.makefile().readline() or 1)
sys.exit(code)
"""


@contextmanager
def forking_python(python: str, folder: Path) -> Iterator[str]:
    """Yield the path of a program that takes `-m` and `-c` as the given Python does."""
    address = str(folder / "socket")
    program = folder / "python"
    program.write_text(PROGRAM.format(python=sys.executable, address=address))
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        number = listener.fileno()
        process = subprocess.Popen([python, __file__, str(number)], pass_fds=[number])
    yield str(program)
    process.terminate()
    process.wait(10)


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()
    run(*next_command(listener))


def next_command(listener: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Return in a new process for each command, and never in this one."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        peer, _ = listener.accept()
        if os.fork() == 0:
            break
        peer.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    listener.close()
    received, files, _, _ = socket.recv_fds(peer, 65536, 3)
    while not received.endswith(b"\n"):
        received += peer.recv(65536)
    if child := os.fork():
        wait(child, peer)
    peer.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    arguments, folder, environment = json.loads(received)
    return arguments, folder, environment


def wait(child: int, peer: socket.socket) -> None:
    """Tell the program the exit code, or end the command if the program was ended."""
    process = os.pidfd_open(child)
    ended, _, _ = select.select([process, peer.fileno()], [], [])
    if process not in ended:
        os.kill(child, signal.SIGTERM)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if process in ended:
        peer.sendall(f"{code if code >= 0 else 128 - code}\n".encode())
    os._exit(0)


def run(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run a command as Python does: `-m MODULE …` or `-c CODE …`."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    option, code, *rest = arguments
    if option == "-m":
        sys.path[0], sys.argv = folder, ["-m", *rest]
        runpy.run_module(code, run_name="__main__", alter_sys=True)
        return
    assert option == "-c", arguments
    sys.path[0], sys.argv = "", ["-c", *rest]
    module = sys.modules["__main__"] = ModuleType("__main__")
    exec(code, vars(module))


if __name__ == "__main__":
    main()
