"""Groups of Redis servers that survive the loss of one: Sentinel, and Redis Cluster."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .backends import free_port, redis_process, wait_for_port

MASTER = "mymaster"
# How long a server is silent before the others replace it.
DETECTION_MILLISECONDS = 500
SLOTS = 16384
# Replicas copy the data of a small server at once.
_REPLICATION = ("--repl-diskless-sync-delay", "0")


@dataclass
class RedisGroup:
    """Redis servers and their options, by port."""

    folder: Path
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    options: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def start(self, port: int, *more: str) -> None:
        folder = self.folder / str(port)
        folder.mkdir(exist_ok=True)
        options = (*self.options.get(port, ()), *more)
        self.processes[port] = redis_process(folder, port, *_REPLICATION, *options)
        wait_for_port(port)

    def send(self, port: int, number: signal.Signals) -> None:
        self.processes[port].send_signal(number)

    def kill(self, port: int) -> None:
        self.processes[port].kill()
        self.processes[port].wait(timeout=10)

    def stop(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait(timeout=10)

    def is_running(self, port: int) -> bool:
        try:
            with _client(port) as client:
                client.ping()
        except redis.RedisError:
            return False
        return True

    @property
    def url(self) -> str:
        raise NotImplementedError

    def primaries(self) -> list[int]:
        """Return the ports of the current primaries, as the group announces them."""
        raise NotImplementedError

    def is_complete(self) -> bool:
        """Return whether every replica follows a primary."""
        raise NotImplementedError

    def rejoin(self, port: int) -> None:
        """Start a killed server again, as a replica."""
        raise NotImplementedError

    def wait_until(self, condition: Callable[[], bool], seconds: float = 60) -> float:
        """Wait for a condition; return the time at which it was true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if condition():
                    return time.monotonic()
            except redis.RedisError:
                pass
            time.sleep(0.02)
        raise TimeoutError("the Redis servers are not ready")


@dataclass
class SentinelGroup(RedisGroup):
    sentinels: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        return f"redis+sentinel://{hosts}/{MASTER}/0"

    def primaries(self) -> list[int]:
        # A majority decides: a sentinel learns of a failover some milliseconds after another.
        found = [int(self._sentinel(port, "master")["port"]) for port in self.sentinels]
        return [port for port in set(found) if found.count(port) * 2 > len(found)]

    def is_complete(self) -> bool:
        others = len(self.sentinels) - 1
        for port in self.sentinels:
            state = self._sentinel(port, "master")
            if (state["num-slaves"], state["num-other-sentinels"]) != (2, others):
                return False
            if state["is_sdown"] or "failover" in state["flags"]:
                return False
        (primary,) = self.primaries()
        with _client(primary) as client:
            info: Any = client.info("replication")
        return bool(info["role"] == "master" and _online(info) == 2)

    def rejoin(self, port: int) -> None:
        (primary,) = self.primaries()
        self.start(port, "--replicaof", "127.0.0.1", str(primary))

    def start_sentinel(self, port: int) -> None:
        """Start a sentinel with its configuration file, in which it stores what it has learned."""
        config = self.folder / f"{port}.conf"
        self.processes[port] = sentinel_process(self.folder / str(port), port, config)
        wait_for_port(port)

    def _sentinel(self, port: int, command: str) -> Any:
        with _client(port) as client:
            state: Any = client.sentinel_masters()
        return state[MASTER]


@dataclass
class ClusterGroup(RedisGroup):
    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in list(self.processes)[:3])
        return f"redis+cluster://{hosts}"

    def primaries(self) -> list[int]:
        views = [self._primaries(port) for port in self.processes if self.is_running(port)]
        return sorted(view for view in views[0] if all(view in other for other in views))

    def is_complete(self) -> bool:
        for port in self.processes:
            with _client(port) as client:
                state: Any = client.execute_command("CLUSTER INFO")
                info: Any = client.info("replication")
            if state["cluster_state"] != "ok" or len(self.primaries()) != 3:
                return False
            if info["role"] == "master" and _online(info) != 1:
                return False
            if info["role"] == "slave" and info["master_link_status"] != "up":
                return False
        return True

    def rejoin(self, port: int) -> None:
        self.start(port)

    def _primaries(self, port: int) -> list[int]:
        with _client(port) as client:
            slots: Any = client.execute_command("CLUSTER SLOTS")
        return [int(part[2][1]) for part in slots] if slots else []


@contextmanager
def sentinel_group(folder: Path) -> Iterator[SentinelGroup]:
    """Start a master, two replicas and three sentinels."""
    group = SentinelGroup(folder)
    master, *replicas = (free_port() for _ in range(3))
    try:
        group.start(master)
        for port in replicas:
            group.start(port, "--replicaof", "127.0.0.1", str(master))
        for _ in range(3):
            port = free_port()
            (folder / str(port)).mkdir()
            config = folder / f"{port}.conf"
            config.write_text(
                f"sentinel monitor {MASTER} 127.0.0.1 {master} 2\n"
                f"sentinel down-after-milliseconds {MASTER} {DETECTION_MILLISECONDS}\n"
                f"sentinel failover-timeout {MASTER} 1500\n"
                f"sentinel parallel-syncs {MASTER} 2\n"
            )
            group.start_sentinel(port)
            group.sentinels.append(port)
        group.wait_until(group.is_complete)
        yield group
    finally:
        group.stop()


def sentinel_process(folder: Path, port: int, config: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["redis-server", str(config), "--sentinel", "--port", str(port), "--bind", "127.0.0.1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def redis_cluster(folder: Path) -> Iterator[ClusterGroup]:
    """Start a cluster of three primaries with a replica each."""
    group = ClusterGroup(folder)
    buses: dict[int, int] = {}
    try:
        while len(buses) < 6:
            # By default the cluster port is the server's port plus 10000, which may be in use.
            port, bus = free_port(), free_port()
            timeout = ("--cluster-node-timeout", str(2 * DETECTION_MILLISECONDS))
            group.options[port] = ("--cluster-enabled", "yes", "--cluster-port", str(bus), *timeout)
            group.start(port)
            if group.is_running(port):
                buses[port] = bus
        _join(list(buses), buses)
        group.wait_until(group.is_complete)
        yield group
    finally:
        group.stop()


def _join(nodes: list[int], buses: dict[int, int]) -> None:
    """Make servers a cluster, without the seconds that `redis-cli --cluster create` waits."""
    ids: dict[int, str] = {}
    for number, port in enumerate(nodes):
        with _client(port) as client:
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            ids[port] = str(client.execute_command("CLUSTER MYID"))
            if number < 3:
                first, last = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
            for other in nodes[:number]:
                client.execute_command(f"CLUSTER MEET 127.0.0.1 {other} {buses[other]}")
    for number, port in enumerate(nodes[3:]):
        primary = ids[nodes[number]]
        with _client(port) as client:
            until = time.monotonic() + 20
            while primary not in str(client.execute_command("CLUSTER NODES")):
                assert time.monotonic() < until, "the nodes do not know each other"
                time.sleep(0.05)
            client.execute_command("CLUSTER REPLICATE", primary)


def _online(info: dict[str, Any]) -> int:
    """Return the number of replicas that have all data, from INFO replication."""
    replicas = [value for key, value in info.items() if key.startswith("slave")]
    return sum(1 for each in replicas if isinstance(each, dict) and each["state"] == "online")


def _client(port: int) -> redis.Redis:
    """Connect without redis-py's retries, which wait seconds for a killed server."""
    retry = Retry(NoBackoff(), 0)
    return redis.Redis(
        host="127.0.0.1", port=port, decode_responses=True, socket_timeout=0.5, retry=retry
    )
