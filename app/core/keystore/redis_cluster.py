"""The state store in a Redis Cluster, which distributes the keys over its primaries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.connection import Connection, SSLConnection, parse_url
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from ..config.redis_url import RedisServers
from ..process.servers import after_fork
from .redis import RedisKeystore, connection_options, converts_errors

# Shorter than the timeout of a node: a call that waited for one silent node asks no other node.
CALL_SECONDS = 0.9
# The circuit breaker's check also asks the other nodes.
REACH_SECONDS = 1.75
# Tries to find a key of each primary.
MAX_PROBES = 500


class _Deadline(threading.local):
    """When the thread's current call may no longer begin to wait for a node: after an error,
    redis-py asks all nodes in turn for the layout of the cluster."""

    at = 0.0

    def check(self) -> None:
        if time.monotonic() > self.at:
            raise redis.TimeoutError("The Redis Cluster does not respond in time")


_deadline = _Deadline()


# redis-py has no types for these.
_node: Any = ClusterNode
_parse: Any = parse_url


class _BoundedConnection(Connection):
    def connect(self) -> None:
        _deadline.check()
        parent: Any = super()
        parent.connect()

    def send_packed_command(self, command: object, check_health: bool = True) -> None:
        _deadline.check()
        parent: Any = super()
        parent.send_packed_command(command, check_health)


class _BoundedSSLConnection(_BoundedConnection, SSLConnection):
    pass


class _LazyCluster:
    """Creates the client at first use, because redis-py connects when it creates one: a cluster
    that is down must not abort startup. Each use begins a call with its own deadline."""

    def __init__(self, connect: Callable[[], RedisCluster]) -> None:
        self._connect = connect
        self._cluster: RedisCluster | None = None
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()

    def within(self, seconds: float) -> Any:
        if self._cluster is None:
            self._create()
        _deadline.at = time.monotonic() + seconds
        return self._cluster

    def _create(self) -> None:
        if not self._lock.acquire(timeout=CALL_SECONDS):
            raise redis.TimeoutError("The Redis Cluster does not respond to another thread")
        try:
            if self._cluster is None:
                _deadline.at = time.monotonic() + CALL_SECONDS
                self._cluster = self._connect()
        finally:
            self._lock.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.within(CALL_SECONDS), name)


class ClusterKeystore(RedisKeystore):
    """Asks for keys one by one, because the keys of a request have different hash slots."""

    _client: _LazyCluster

    def __init__(self, client: _LazyCluster, address: str) -> None:
        super().__init__(client, address)
        self._recovery = threading.Lock()

    @converts_errors
    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        return [cast("str | None", self._client.get(key)) for key in keys]

    @converts_errors
    def drop(self, *keys: str) -> None:
        for key in keys:
            # `delete` uses a pipeline, whose error messages have the keys.
            self._client.execute_command("DEL", key)

    @converts_errors
    def time(self) -> float:
        """Return the time of one node, in seconds since 1970."""
        node = self._client.get_random_node()
        seconds, microseconds = self._client.time(target_nodes=node)
        return float(seconds) + float(microseconds) / 1e6

    @converts_errors
    def probe_keys(self) -> list[str]:
        """Return keys that cover every primary."""
        cluster = self._client.within(CALL_SECONDS)
        primaries = len(cluster.get_primaries())
        keys: dict[str, str] = {}
        for number in range(MAX_PROBES):
            key = f"frontdesk-probe:{number}"
            keys.setdefault(cluster.get_node_from_key(key).name, key)
            if len(keys) == primaries:
                break
        return list(keys.values())

    def _recover(self) -> None:
        """Find the current primaries; other threads wait until they are known."""
        with self._recovery:
            if self.breaker.openings != self._seen_openings:
                super()._recover()

    def _reconnect(self) -> None:
        # A node may still announce a former primary, which does not respond to the ping.
        with suppress(redis.RedisError, RedisClusterException):
            self._client.within(REACH_SECONDS).nodes_manager.initialize()
            self._reach()

    def _reach(self) -> None:
        """Ping every primary. After a failed ping, redis-py asks the other nodes for the layout,
        which the next check uses."""
        cluster = self._client.within(REACH_SECONDS)
        for node in cluster.get_primaries():
            cluster.ping(target_nodes=node)


def open_cluster(servers: RedisServers) -> ClusterKeystore:
    """Return a store that connects at first use; raise ValueError or TypeError for options that
    redis-py does not accept."""
    options = connection_options()
    # Creating a connection checks the options, and connects nowhere.
    pool = redis.ConnectionPool.from_url(servers.url, **options)
    pool.connection_class(**pool.connection_kwargs)
    own = _parse(servers.url)
    for name in ("host", "port", "db"):
        own.pop(name, None)
    # The cluster's client retries, not the connections to its nodes.
    del options["retry"]
    kwargs = options | own
    kwargs["connection_class"] = _BoundedSSLConnection if servers.uses_tls else _BoundedConnection

    def connect() -> RedisCluster:
        nodes = [_node(host, port) for host, port in servers.addresses]
        # With a URL, the client accepts a class of connections.
        return RedisCluster(
            url=f"redis://{servers.url.rpartition('@')[2].partition('/')[0]}",
            startup_nodes=nodes,
            retry=Retry(NoBackoff(), 1),
            **kwargs,
        )

    return ClusterKeystore(_LazyCluster(connect), servers.where)
