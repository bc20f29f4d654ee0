"""`make run`, first part: sets up everything that is missing, on Python without packages.

The second part (serve.py) runs in the environment that this part creates.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from pathlib import Path

from .environment import ROOT, become, ensure, stop

DOTENV = ROOT / ".env"

_FIRST_DOTENV = """\
# Settings of this machine, created by the first `make run`; docs/settings.md lists them all.
SECRET_KEY={key}
FIRST_SUPERUSER=root@example.com
FIRST_SUPERUSER_PASSWORD={password}
"""


def main() -> None:
    port = wanted_port(os.environ.get("PORT", "5000"))
    # Checked before the packages are installed, which takes a minute.
    check_port_is_free(port)
    try:
        python = ensure("requirements.txt")
        is_first = write_dotenv(DOTENV)
    except OSError as error:
        stop(cannot_write(error))
    become(python, "scripts.serve", str(port), *(["--first"] if is_first else []))


def wanted_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        stop(f"PORT must be a number from 1 to 65535, and not {text!r}.")
    return int(text)


def check_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        # With the server's options: a port with only a closing connection is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            stop(f"Port {port} may not be used by this user; choose another: make run PORT=5001")
        except OSError:
            stop(
                f"Port {port} is in use. Stop the program that uses it, or choose another:"
                " make run PORT=5001"
            )


def write_dotenv(path: Path) -> bool:
    """Write `.env` with mode 0600 if it does not exist; return whether it was written."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w") as file:
        file.write(
            _FIRST_DOTENV.format(key=secrets.token_hex(32), password=secrets.token_urlsafe(15))
        )
    return True


def cannot_write(error: OSError) -> str:
    where = error.filename or ROOT
    return f"Cannot write {where}: {error.strerror}. Frontdesk stores its data in the checkout."


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
