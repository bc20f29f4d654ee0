"""The brokers that Celery's jobs go through, each behind a line that can be cut."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .backends import AMQP, rabbitmq_queue, reserved_port
from .stores import Store
from .tcp_proxy import TcpProxy


@dataclass
class Broker:
    """What the jobs go through, and the line to it."""

    line: TcpProxy
    settings: dict[str, str]
    # None: the machine's own, which others use too.
    store: Store | None = None

    @contextmanager
    def away(self, how: str) -> Iterator[None]:
        if how == "down":
            self._stop()
            # All that were connected to it are told; from now on nobody is let in.
            time.sleep(0.2)
            self.line.cut()
        elif how == "vanished":
            # As when its machine loses power: nobody is told.
            self.line.cut()
            self._stop()
        elif how == "black-holed":
            self.line.swallow()
        else:
            self.line.silent = True
        try:
            yield
        finally:
            if self.store is not None:
                self.store.revive()
            self.line.restore()

    def _stop(self) -> None:
        if self.store is not None:
            self.store.stop()


@contextmanager
def redis_broker(folder: Path) -> Iterator[Broker]:
    store = Store(folder, reserved_port())
    store.start()
    line = TcpProxy("127.0.0.1", store.port)
    url = f"redis://127.0.0.1:{line.port}/0"
    yield Broker(line, {"CORE__CELERY_BROKER_URL": url}, store)
    line.cut()
    store.stop()


@contextmanager
def rabbitmq_broker(_folder: Path) -> Iterator[Broker]:
    with rabbitmq_queue() as queue:
        server = urlsplit(AMQP)
        line = TcpProxy(server.hostname or "127.0.0.1", server.port or 5672)
        url = server._replace(netloc=f"{server.username}:{server.password}@127.0.0.1:{line.port}")
        yield Broker(line, {"CORE__CELERY_BROKER_URL": url.geturl(), "NOTIFICATIONS__QUEUE": queue})
        line.cut()
