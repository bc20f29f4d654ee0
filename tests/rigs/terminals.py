"""Runs `flask` in a pseudo-terminal, as an operator does."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios
from types import TracebackType

from ..conftest import SECRET
from .servers import checkout_environment


class TerminalProgram:
    """`flask --app wsgi …`; its standard output can be a pipe."""

    def __init__(
        self, database_url: str, *arguments: str, piped: bool = False, **settings: str
    ) -> None:
        self._terminal, program_end = pty.openpty()
        self._shown = b""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flask", "--app", "wsgi", *arguments],
            env=checkout_environment(
                SECRET_KEY=SECRET, CORE__DATABASE_URL=database_url, **settings
            ),
            stdin=program_end,
            stdout=subprocess.PIPE if piped else program_end,
            stderr=program_end,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(program_end)

    def __enter__(self) -> TerminalProgram:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        os.close(self._terminal)

    def answer(self, question: str, text: str) -> None:
        """Wait for a question, and type a line."""
        while question.encode() not in self._shown:
            self._shown += self._read()
        os.write(self._terminal, f"{text}\n".encode())

    def finish(self, code: int = 0) -> str:
        """Return everything that the terminal has shown."""
        while chunk := self._read():
            self._shown += chunk
        assert self._process.wait(timeout=60) == code, self._shown
        return self._shown.decode().replace("\r\n", "\n")

    def output(self) -> str:
        """Return what was written into the pipe."""
        assert self._process.stdout is not None
        return self._process.stdout.read().decode()

    def _read(self) -> bytes:
        try:
            return os.read(self._terminal, 65536)
        except OSError:  # the program has ended
            return b""
