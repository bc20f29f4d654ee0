"""The same tests for every state store, since all stores must behave alike."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import redis
from sqlalchemy import create_engine, make_url

from app.core.clock import SystemClock
from app.core.config.environment import SettingsError
from app.core.config.settings import CoreSettings
from app.core.db.base import engine_options, prepare_sqlite
from app.core.keystore import (
    DatabaseKeystore,
    Keystore,
    KeystoreUnavailable,
    MemoryKeystore,
    check_keystore_writes,
    open_keystore,
)
from app.core.keystore.database import KeystoreEntry
from app.core.keystore.redis import RedisKeystore
from app.core.keystore.redis_cluster import ClusterKeystore
from app.testing.clock import SteppingClock

from ..rigs.backends import free_port
from ..rigs.redis_groups import ClusterGroup, redis_cluster
from ..rigs.tcp_proxy import TcpProxy

THREADS = 20

Wait = Callable[[float], None]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterGroup]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as group:
        yield group


def opened(url: str) -> Keystore:
    core = CoreSettings.model_validate({"REDIS_URL": url})
    return open_keystore(core, lambda: pytest.fail("no engine is needed"), SystemClock())


@pytest.fixture(params=["memory", "redis", "cluster", "sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keystore(
    kind: str, clock: SteppingClock, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Keystore]:
    if kind == "memory":
        yield MemoryKeystore(clock)
    elif kind == "cluster":
        yield opened(request.getfixturevalue("cluster").url)
    elif kind == "redis":
        yield RedisKeystore.from_url(request.getfixturevalue("redis_url"))
    else:
        url = f"sqlite:///{tmp_path / 'keys.db'}"
        if kind == "postgresql":
            url = request.getfixturevalue("_migrated_postgres")
        engine = create_engine(url, **engine_options(url, 10))
        if kind == "sqlite":
            prepare_sqlite(engine)
        KeystoreEntry.metadata.tables[KeystoreEntry.__tablename__].create(engine, checkfirst=True)
        yield DatabaseKeystore(lambda: engine, clock)
        engine.dispose()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """Return a key that no other test uses: some stores outlive a test."""
    return f"{request.node.name}:{time.monotonic_ns()}"


@pytest.fixture
def wait(kind: str, clock: SteppingClock) -> Wait:
    """Return a function that waits for Redis and steps the clock for the other stores."""
    if kind in ("redis", "cluster"):
        return lambda seconds: time.sleep(seconds + 0.1)
    return lambda seconds: clock.step(seconds=seconds + 0.1)


def run_in_threads(work: Callable[[], Any]) -> list[Any]:
    start = Barrier(THREADS)

    def run(_: int) -> Any:
        start.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_get_many_returns_values_in_the_order_of_the_keys(
    keystore: Keystore, key: str, wait: Wait
) -> None:
    keystore.put(f"{key}:first", "1", 60)
    keystore.put(f"{key}:third", "3", 60)
    keystore.put(f"{key}:over", "4", 1)
    wait(1)
    keys = [f"{key}:third", f"{key}:second", f"{key}:over", f"{key}:first"]
    assert keystore.get_many(keys) == ["3", None, None, "1"]
    assert keystore.get_many([]) == []


def test_stored_value_is_returned_until_it_is_deleted(keystore: Keystore, key: str) -> None:
    assert keystore.get(key) is None
    keystore.put(key, "wörd", 60)
    keystore.put(key, "other", 60)
    assert keystore.get(key) == "other"
    keystore.drop(key, "never there")
    assert keystore.get(key) is None


def test_entry_expires(keystore: Keystore, key: str, wait: Wait) -> None:
    keystore.put(key, "word", 1)
    assert 0 < keystore.remaining(key) <= 1
    wait(1)
    assert keystore.get(key) is None
    assert keystore.take(key) is None
    assert keystore.remaining(key) == 0


def test_storing_again_restarts_the_expiry(keystore: Keystore, key: str, wait: Wait) -> None:
    keystore.put(key, "first", 1)
    keystore.put(key, "second", 60)
    wait(1)
    assert keystore.get(key) == "second"
    assert 50 < keystore.remaining(key) <= 60


def test_taken_value_is_deleted(keystore: Keystore, key: str) -> None:
    keystore.put(key, "word", 60)
    assert keystore.take(key) == "word"
    assert keystore.take(key) is None


def test_only_the_first_add_stores_a_value(keystore: Keystore, key: str, wait: Wait) -> None:
    assert keystore.add(key, "first", 1) is True
    assert keystore.add(key, "second", 1) is False
    assert keystore.get(key) == "first"
    wait(1)
    assert keystore.add(key, "third", 60) is True
    assert keystore.get(key) == "third"


def test_counter_expires_after_its_first_count(keystore: Keystore, key: str, wait: Wait) -> None:
    assert [keystore.count(key, 2) for _ in range(3)] == [1, 2, 3]
    wait(1)
    assert keystore.count(key, 2, by=5) == 8
    wait(1.5)
    assert keystore.count(key, 2) == 1


def test_one_of_many_concurrent_takes_returns_the_value(keystore: Keystore, key: str) -> None:
    keystore.put(key, "word", 60)
    assert Counter(run_in_threads(lambda: keystore.take(key))) == {"word": 1, None: THREADS - 1}


def test_one_of_many_concurrent_adds_succeeds(keystore: Keystore, key: str) -> None:
    added = run_in_threads(lambda: keystore.add(key, "word", 60))
    assert Counter(added) == {True: 1, False: THREADS - 1}


def test_concurrent_counts_are_not_lost(keystore: Keystore, key: str) -> None:
    assert sorted(run_in_threads(lambda: keystore.count(key, 60))) == list(range(1, THREADS + 1))
    assert keystore.get(key) == str(THREADS)


def test_one_of_many_concurrent_adds_replaces_an_expired_entry(
    keystore: Keystore, key: str, wait: Wait
) -> None:
    keystore.put(key, "old", 1)
    wait(1)
    assert Counter(run_in_threads(lambda: keystore.add(key, "new", 60)))[True] == 1


def test_available_store_accepts_writes(keystore: Keystore) -> None:
    check_keystore_writes(keystore)


def test_probe_writes_to_every_primary_of_a_cluster(cluster: ClusterGroup) -> None:
    check_keystore_writes(opened(cluster.url))
    for port in cluster.primaries():
        with redis.Redis(port=port) as node:
            assert node.keys("frontdesk-probe:*"), f"no probe on {port}"


def test_names_of_keys_are_the_same_in_a_cluster(cluster: ClusterGroup) -> None:
    """The API contract names the key of a sign-out, for other programs."""
    opened(cluster.url).put("revoked:ada@example.com", "7", 60)
    found: list[bytes] = []
    for port in cluster.primaries():
        with redis.Redis(port=port) as node:
            found += node.keys("revoked:*")
    assert found == [b"revoked:ada@example.com"]


def test_memory_store_deletes_expired_entries(clock: SteppingClock) -> None:
    keystore = MemoryKeystore(clock)
    for number in range(999):
        keystore.put(str(number), "word", 1)
    clock.step(seconds=2)
    keystore.put("last", "word", 60)
    assert list(keystore._entries) == ["last"]


@pytest.mark.parametrize(
    "form", ["redis://{}/0", "redis+sentinel://{},{}/mymaster/0", "redis+cluster://{},{}"]
)
def test_unavailable_store_raises(form: str) -> None:
    unavailable = opened(form.format(*(f"127.0.0.1:{free_port()}" for _ in range(2))))
    calls: list[Callable[[], object]] = [
        lambda: check_keystore_writes(unavailable),
        lambda: unavailable.get("x"),
        lambda: unavailable.put("x", "y", 1),
        lambda: unavailable.drop("x"),
        lambda: unavailable.take("x"),
        lambda: unavailable.add("x", "y", 1),
        lambda: unavailable.count("x", 1),
        lambda: unavailable.remaining("x"),
    ]
    for call in calls:
        with pytest.raises(KeystoreUnavailable):
            call()


@pytest.fixture
def redis_proxy(redis_url: str) -> Iterator[TcpProxy]:
    """Start a proxy to the shared server, which a test can interrupt."""
    line = TcpProxy("127.0.0.1", make_url(redis_url).port or 6379)
    yield line
    line.cut()


@pytest.fixture
def proxied_store(redis_proxy: TcpProxy) -> RedisKeystore:
    return RedisKeystore.from_url(f"redis://127.0.0.1:{redis_proxy.port}/0")


def test_connections_closed_by_redis_are_replaced(
    proxied_store: RedisKeystore, redis_proxy: TcpProxy, key: str
) -> None:
    run_in_threads(lambda: proxied_store.put(key, "word", 60))
    redis_proxy.cut()
    redis_proxy.restore()
    assert run_in_threads(lambda: proxied_store.get(key)) == ["word"] * THREADS


def test_late_response_is_not_given_to_another_call(
    proxied_store: RedisKeystore, redis_proxy: TcpProxy, key: str
) -> None:
    proxied_store.put(key, "word", 60)
    redis_proxy.silent = True
    with pytest.raises(KeystoreUnavailable):
        proxied_store.get(key)
    redis_proxy.speak()
    until = time.monotonic() + 5
    while proxied_store.breaker.is_rejecting:
        assert time.monotonic() < until, "the store was not available in time"
        time.sleep(0.05)
    assert proxied_store.get(f"{key}:other") is None
    assert proxied_store.get(key) == "word"


def test_error_of_redis_keeps_the_connection_usable(proxied_store: RedisKeystore, key: str) -> None:
    proxied_store.put(key, "word", 60)
    with pytest.raises(KeystoreUnavailable):
        proxied_store.count(key, 60)
    assert proxied_store.get(key) == "word"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, MemoryKeystore),
        ({"KEYSTORE": "memory", "REDIS_URL": "redis://h/0"}, MemoryKeystore),
        ({"KEYSTORE": "database"}, DatabaseKeystore),
        ({"REDIS_URL": "redis://h:1/0"}, RedisKeystore),
        ({"REDIS_HOST": "h", "REDIS_PASSWORD": "hunter2"}, RedisKeystore),
        ({"REDIS_HOST": "h"}, MemoryKeystore),
        ({"REDIS_PASSWORD": "hunter2"}, MemoryKeystore),
        ({"REDIS_URL": "rediss://h:1/0"}, RedisKeystore),
        ({"REDIS_URL": "unix:///run/redis.sock"}, RedisKeystore),
        ({"REDIS_URL": "redis+sentinel://h:1,g/mymaster/0"}, RedisKeystore),
        ({"REDIS_URL": "rediss+sentinel://h:1,g/mymaster"}, RedisKeystore),
        ({"REDIS_URL": "redis+cluster://:hunter2@h:1,g:2"}, ClusterKeystore),
        ({"REDIS_URL": "rediss+cluster://h"}, ClusterKeystore),
        ({"REDIS_URL": ""}, MemoryKeystore),
        ({"REDIS_URL": "redis://:hunter2@h:port/0"}, MemoryKeystore),
        ({"REDIS_URL": "redis://:hunter2/x@h:1/0"}, MemoryKeystore),
        ({"REDIS_URL": "redis://:hunter2@h/0?unknown=1"}, MemoryKeystore),
        ({"REDIS_HOST": "[h", "REDIS_PASSWORD": "hunter2"}, MemoryKeystore),
    ],
)
def test_the_settings_choose_the_keystore(
    settings: dict[str, str], expected: type, caplog: pytest.LogCaptureFixture
) -> None:
    def no_engine() -> Any:
        raise AssertionError("the engine is needed only at first use")

    core = CoreSettings.model_validate(settings)
    with caplog.at_level(logging.WARNING, "app.core.keystore"):
        assert type(open_keystore(core, no_engine, SystemClock())) is expected
    by_choice = settings.get("KEYSTORE") == "memory"
    assert bool(caplog.records) is (expected is MemoryKeystore and not by_choice)
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"REDIS_HOST": "h"},
        {"REDIS_PASSWORD": "hunter2"},
        {"REDIS_URL": ""},
        {"REDIS_URL": "redis://:hunter2@h:port/0"},
        {"REDIS_URL": "redis://:hunter2/x@h:1/0"},
        {"REDIS_URL": "redis://:hunter2@h/0?unknown=1"},
        {"REDIS_HOST": "[h", "REDIS_PASSWORD": "hunter2"},
        {"REDIS_URL": "redis+sentinel://:hunter2@h/mymaster?unknown=1", "KEYSTORE": "auto"},
        {"REDIS_URL": "redis+cluster://:hunter2@h?unknown=1", "KEYSTORE": "auto"},
        {"REDIS_URL": "redis+cluster://:hunter2@h?sentinel_password=hunter2", "KEYSTORE": "auto"},
    ],
)
def test_redis_as_the_chosen_keystore_needs_usable_settings(settings: dict[str, str]) -> None:
    core = CoreSettings.model_validate({"KEYSTORE": "redis", **settings})
    with pytest.raises(SettingsError, match=r"^Invalid settings: CORE__") as raised:
        open_keystore(core, lambda: pytest.fail("no engine is needed"), SystemClock())
    assert "hunter2" not in str(raised.value)
