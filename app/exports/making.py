"""The work itself, done behind the requests: one copy at a time, tried some times."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy.orm import Session

from ..delivery.worker.batch import jittered
from ..delivery.worker.lease import Lease, insist
from ..delivery.worker.worker import TAKEN_PAUSE
from ..storage import LargeFileStore
from .archive import Archive
from .holdings import Holdings
from .queue import ClaimedExport, ExportQueue

log = logging.getLogger(__name__)

# No channel has such a name: a host's are words.
CHORE = "frontdesk exports"
MOST_ATTEMPTS = 4
FIRST_RETRY = 20.0


class Interrupted(Exception):
    """The process ends, or has slept for so long that somebody else may be at it."""


@dataclass(eq=False)
class ExportMaking:
    queue: ExportQueue
    holdings: Holdings
    files: LargeFileStore
    make_session: Callable[[], Session]
    # The host's class of an account.
    model: type[Any]

    def seconds_until_due(self) -> float | None:
        return self.queue.seconds_until_due()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        wait = self.queue.seconds_until_due()
        if wait is None or wait > 0:
            return wait
        export = self.queue.claim()
        if export is None:
            # Another worker is claiming it at this moment.
            time.sleep(TAKEN_PAUSE)
        elif export.attempts > MOST_ATTEMPTS:
            self._give_up(export, "whoever worked on it did not come back")
        else:
            self._attempt(export, stopping)
        return 0.0

    def _attempt(self, export: ClaimedExport, stopping: Callable[[], bool]) -> None:
        with Lease(lambda: self.queue.renew(export)) as lease:

            def go_on() -> None:
                if stopping() or not lease.holds:
                    raise Interrupted

            try:
                self._make(export, go_on)
            except Interrupted:
                insist(lambda: self.queue.give_back(export))
            except Exception as error:
                self._try_later(export, error)

    def _make(self, export: ClaimedExport, go_on: Callable[[], None]) -> None:
        with TemporaryFile() as file:
            # Of its own: a request may be under way on the application's.
            with self.make_session() as session:
                account = session.get(self.model, export.account_id)
                if account is None:
                    return
                with Archive(file) as archive:
                    self.holdings.write(archive, account, session, go_on)
            size = file.seek(0, 2)
            self._keep(export, file, size)

    def _keep(self, export: ClaimedExport, file: Any, size: int) -> None:
        name = f"{secrets.token_hex(16)}.zip"
        self.files.put_from(name, file, "application/zip")
        kept: list[bool] = []
        try:
            insist(lambda: kept.append(self.queue.finish(export, name, size)))
        finally:
            if not any(kept):
                self.files.delete(name)

    def _try_later(self, export: ClaimedExport, error: Exception) -> None:
        if export.attempts >= MOST_ATTEMPTS:
            self._give_up(export, type(error).__name__, error)
            return
        seconds = jittered(FIRST_RETRY * 3 ** (export.attempts - 1))
        log.warning(
            "Export %s failed and is tried again in %.0f s", export.id, seconds, exc_info=error
        )
        insist(lambda: self.queue.postpone(export, seconds))

    def _give_up(self, export: ClaimedExport, reason: str, error: Exception | None = None) -> None:
        log.error("Export %s is given up: %s", export.id, reason, exc_info=error)
        insist(lambda: self.queue.fail(export))
