"""The same tests for every keystore: whichever an operator chooses, the rest cannot tell."""

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
from app.testing.clock import SteppingClock

from ..rigs.backends import free_port
from ..rigs.tcp_proxy import TcpProxy

THREADS = 20

Pass = Callable[[float], None]


@pytest.fixture(params=["memory", "redis", "sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keystore(
    kind: str, clock: SteppingClock, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Keystore]:
    if kind == "memory":
        yield MemoryKeystore(clock)
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
    """One of its own for each test: some stores outlive it."""
    return f"{request.node.name}:{time.monotonic_ns()}"


@pytest.fixture
def wait(kind: str, clock: SteppingClock) -> Pass:
    """Redis has a clock of its own; the others have ours."""
    if kind == "redis":
        return lambda seconds: time.sleep(seconds + 0.1)
    return lambda seconds: clock.step(seconds=seconds + 0.1)


def together(work: Callable[[], Any]) -> list[Any]:
    start = Barrier(THREADS)

    def run(_: int) -> Any:
        start.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_many_values_come_in_the_order_of_their_keys(
    keystore: Keystore, key: str, wait: Pass
) -> None:
    keystore.put(f"{key}:first", "1", 60)
    keystore.put(f"{key}:third", "3", 60)
    keystore.put(f"{key}:over", "4", 1)
    wait(1)
    keys = [f"{key}:third", f"{key}:second", f"{key}:over", f"{key}:first"]
    assert keystore.get_many(keys) == ["3", None, None, "1"]
    assert keystore.get_many([]) == []


def test_what_is_put_can_be_got_until_it_is_dropped(keystore: Keystore, key: str) -> None:
    assert keystore.get(key) is None
    keystore.put(key, "wörd", 60)
    keystore.put(key, "other", 60)
    assert keystore.get(key) == "other"
    keystore.drop(key, "never there")
    assert keystore.get(key) is None


def test_an_entry_expires(keystore: Keystore, key: str, wait: Pass) -> None:
    keystore.put(key, "word", 1)
    assert 0 < keystore.remaining(key) <= 1
    wait(1)
    assert keystore.get(key) is None
    assert keystore.take(key) is None
    assert keystore.remaining(key) == 0


def test_putting_again_counts_the_time_anew(keystore: Keystore, key: str, wait: Pass) -> None:
    keystore.put(key, "first", 1)
    keystore.put(key, "second", 60)
    wait(1)
    assert keystore.get(key) == "second"
    assert 50 < keystore.remaining(key) <= 60


def test_what_is_taken_is_gone(keystore: Keystore, key: str) -> None:
    keystore.put(key, "word", 60)
    assert keystore.take(key) == "word"
    assert keystore.take(key) is None


def test_only_the_first_is_added(keystore: Keystore, key: str, wait: Pass) -> None:
    assert keystore.add(key, "first", 1) is True
    assert keystore.add(key, "second", 1) is False
    assert keystore.get(key) == "first"
    wait(1)
    assert keystore.add(key, "third", 60) is True
    assert keystore.get(key) == "third"


def test_a_counter_expires_after_its_first_count(keystore: Keystore, key: str, wait: Pass) -> None:
    assert [keystore.count(key, 2) for _ in range(3)] == [1, 2, 3]
    wait(1)
    assert keystore.count(key, 2, by=5) == 8
    wait(1.5)
    assert keystore.count(key, 2) == 1


def test_of_many_takers_one_receives_the_value(keystore: Keystore, key: str) -> None:
    keystore.put(key, "word", 60)
    assert Counter(together(lambda: keystore.take(key))) == {"word": 1, None: THREADS - 1}


def test_of_many_adders_one_is_told_so(keystore: Keystore, key: str) -> None:
    added = together(lambda: keystore.add(key, "word", 60))
    assert Counter(added) == {True: 1, False: THREADS - 1}


def test_no_count_is_lost(keystore: Keystore, key: str) -> None:
    assert sorted(together(lambda: keystore.count(key, 60))) == list(range(1, THREADS + 1))
    assert keystore.get(key) == str(THREADS)


def test_an_expired_entry_is_added_anew_by_one_of_many(
    keystore: Keystore, key: str, wait: Pass
) -> None:
    keystore.put(key, "old", 1)
    wait(1)
    assert Counter(together(lambda: keystore.add(key, "new", 60)))[True] == 1


def test_a_store_within_reach_accepts_writes(keystore: Keystore) -> None:
    check_keystore_writes(keystore)


def test_memory_forgets_expired_entries(clock: SteppingClock) -> None:
    keystore = MemoryKeystore(clock)
    for number in range(999):
        keystore.put(str(number), "word", 1)
    clock.step(seconds=2)
    keystore.put("last", "word", 60)
    assert list(keystore._entries) == ["last"]


def test_a_keystore_out_of_reach_says_so() -> None:
    gone = RedisKeystore.from_url(f"redis://127.0.0.1:{free_port()}/0")
    calls: list[Callable[[], object]] = [
        lambda: check_keystore_writes(gone),
        lambda: gone.get("x"),
        lambda: gone.put("x", "y", 1),
        lambda: gone.drop("x"),
        lambda: gone.take("x"),
        lambda: gone.add("x", "y", 1),
        lambda: gone.count("x", 1),
        lambda: gone.remaining("x"),
    ]
    for call in calls:
        with pytest.raises(KeystoreUnavailable):
            call()


@pytest.fixture
def redis_line(redis_url: str) -> Iterator[TcpProxy]:
    """To the server that the tests share, and cut without a harm to others."""
    line = TcpProxy("127.0.0.1", make_url(redis_url).port or 6379)
    yield line
    line.cut()


@pytest.fixture
def at_its_end(redis_line: TcpProxy) -> RedisKeystore:
    return RedisKeystore.from_url(f"redis://127.0.0.1:{redis_line.port}/0")


def test_connections_that_redis_has_dropped_are_made_anew(
    at_its_end: RedisKeystore, redis_line: TcpProxy, key: str
) -> None:
    together(lambda: at_its_end.put(key, "word", 60))
    redis_line.cut()
    redis_line.restore()
    assert together(lambda: at_its_end.get(key)) == ["word"] * THREADS


def test_an_answer_that_comes_late_is_nobody_elses(
    at_its_end: RedisKeystore, redis_line: TcpProxy, key: str
) -> None:
    at_its_end.put(key, "word", 60)
    redis_line.silent = True
    with pytest.raises(KeystoreUnavailable):
        at_its_end.get(key)
    redis_line.speak()
    until = time.monotonic() + 5
    while at_its_end.breaker.is_rejecting:
        assert time.monotonic() < until, "not found again in time"
        time.sleep(0.05)
    assert at_its_end.get(f"{key}:other") is None
    assert at_its_end.get(key) == "word"


def test_what_redis_refuses_leaves_the_connection_as_it_was(
    at_its_end: RedisKeystore, key: str
) -> None:
    at_its_end.put(key, "word", 60)
    with pytest.raises(KeystoreUnavailable):
        at_its_end.count(key, 60)
    assert at_its_end.get(key) == "word"


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
        raise AssertionError("not asked for before it is used")

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
    ],
)
def test_redis_as_the_chosen_keystore_needs_usable_settings(settings: dict[str, str]) -> None:
    core = CoreSettings.model_validate({"KEYSTORE": "redis", **settings})
    with pytest.raises(SettingsError, match=r"^Wrong settings: CORE__") as raised:
        open_keystore(core, lambda: pytest.fail("no engine is needed"), SystemClock())
    assert "hunter2" not in str(raised.value)
