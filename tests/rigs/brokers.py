"""Message brokers for Celery, each behind a proxy that can interrupt the connection."""

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
    """A message broker and the proxy in front of it."""

    proxy: TcpProxy
    settings: dict[str, str]
    # None: RabbitMQ of this machine, which tests must not stop.
    store: Store | None = None

    @contextmanager
    def unavailable(self, how: str) -> Iterator[None]:
        if how == "down":
            self._stop()
            # Connected clients see the end of their connections; new connections are refused.
            time.sleep(0.2)
            self.proxy.cut()
        elif how == "vanished":
            # As after a power failure: the broker does not close its connections.
            self.proxy.cut()
            self._stop()
        elif how == "black-holed":
            self.proxy.swallow()
        else:
            self.proxy.silent = True
        try:
            yield
        finally:
            if self.store is not None:
                self.store.revive()
            self.proxy.restore()

    def _stop(self) -> None:
        if self.store is not None:
            self.store.stop()


@contextmanager
def redis_broker(folder: Path) -> Iterator[Broker]:
    store = Store(folder, reserved_port())
    store.start()
    proxy = TcpProxy("127.0.0.1", store.port)
    url = f"redis://127.0.0.1:{proxy.port}/0"
    yield Broker(proxy, {"CORE__CELERY_BROKER_URL": url}, store)
    proxy.cut()
    store.stop()


@contextmanager
def rabbitmq_broker(_folder: Path) -> Iterator[Broker]:
    with rabbitmq_queue() as queue:
        server = urlsplit(AMQP)
        proxy = TcpProxy(server.hostname or "127.0.0.1", server.port or 5672)
        url = server._replace(netloc=f"{server.username}:{server.password}@127.0.0.1:{proxy.port}")
        yield Broker(
            proxy, {"CORE__CELERY_BROKER_URL": url.geturl(), "NOTIFICATIONS__QUEUE": queue}
        )
        proxy.cut()
