"""Rotation of the signing key while clients sign in and use their tokens.

`python -m tests.rigs.key_rotation` sends 20,000 requests and prints their statuses. A test sends
fewer.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import requests

from ..conftest import PASSWORD, SECRET
from .servers import Server, checkout_environment, gunicorn_server
from .traffic import Client, migrate_with_accounts

CLIENTS = 6
WORKERS = 4
# A sign-in among so many requests.
SIGN_IN_EVERY = 20
# How long the other service caches the published keys, instead of five minutes.
CACHE_SECONDS = 1.0


@dataclass
class Elsewhere:
    """Another service, which never fetches the keys before its cache has expired."""

    url: str
    keys: dict[str, Any] = field(default_factory=dict)
    fetched: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def verify(self, token: str) -> str:
        with self.lock:
            if time.monotonic() > self.fetched + CACHE_SECONDS:
                self.fetched = time.monotonic()
                found = requests.get(self.url, timeout=30).json()["keys"]
                self.keys = {each["kid"]: jwt.PyJWK(each) for each in found}
        header = jwt.get_unverified_header(token)
        if header["kid"] not in self.keys:
            return "unknown key"
        jwt.decode(token, self.keys[header["kid"]], algorithms=[header["alg"]], leeway=5)
        return "verified"


@dataclass
class Load:
    """Clients that use each other's tokens, so that each worker gets tokens of all others."""

    port: int
    total: int
    elsewhere: Elsewhere
    counts: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    tokens: deque[str] = field(default_factory=lambda: deque(maxlen=60))
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def sent(self) -> int:
        return sum(count for name, count in self.counts.items() if not name.startswith("other"))

    def sign_in(self) -> None:
        form = {"username": "active@example.com", "password": PASSWORD}
        status, body = Client(self.port).ask("POST", "/login", form=form)
        self._note(f"sign-in {status}")
        if status == 200:
            token = body["access_token"]
            self._note(f"other service: {self.elsewhere.verify(token)}")
            self.tokens.append(token)
            self.keys.add(jwt.get_unverified_header(token)["kid"])

    def read(self) -> None:
        token = random.choice(self.tokens)
        self._note(f"read {Client(self.port, token).ask('GET', '/account')[0]}")

    def run(self) -> None:
        number = 0
        while self.sent < self.total:
            number += 1
            if number % SIGN_IN_EVERY:
                self.read()
            else:
                self.sign_in()

    def _note(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1


def rotate(folder: Path, total: int) -> Load:
    """Send so many requests, in the middle of which a new key is published and then signs."""
    url = f"sqlite:///{folder / 'frontdesk.db'}"
    migrate_with_accounts(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "AUTH__BCRYPT_ROUNDS": "4",
        "AUTH__RATE_LIMITS_ENABLED": "false",
        "AUTH__ACCEPT_HS256": "false",
        "AUTH__SIGNING_KEYS": str(folder / "keys.json"),
        "WEB_CONCURRENCY": str(WORKERS),
    }
    first = _command(settings, "new")["kid"]
    with gunicorn_server(settings, folder / "log") as server:
        published = f"http://127.0.0.1:{server.port}/.well-known/jwks.json"
        load = Load(server.port, total, Elsewhere(published))
        load.sign_in()
        threads = [threading.Thread(target=load.run) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        _wait_for(load, total // 4)
        second = _command(settings, "new", "--algorithm", "EdDSA")["kid"]
        _reload(server)
        time.sleep(CACHE_SECONDS)
        _wait_for(load, total // 2)
        assert load.keys == {first}
        _command(settings, "first", second)
        _reload(server)
        for thread in threads:
            thread.join()
        load.sign_in()
    assert load.keys == {first, second}
    assert jwt.get_unverified_header(load.tokens[-1])["kid"] == second
    return load


def _command(settings: dict[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "auth", "keys", *arguments],
        env=checkout_environment(**settings),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def _wait_for(load: Load, sent: int) -> None:
    while load.sent < sent:
        time.sleep(0.05)


def _reload(server: Server) -> None:
    """Replace all workers."""
    before = set(server.workers())
    server.send(signal.SIGHUP)
    until = time.monotonic() + 60
    while before & set(server.workers()):
        assert time.monotonic() < until, "the workers are still the same"
        time.sleep(0.05)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as path:
        begin = time.monotonic()
        found = rotate(Path(path), 20_000)
        for name, count in sorted(found.counts.items()):
            sys.stdout.write(f"{count:7d} {name}\n")
        sys.stdout.write(f"{time.monotonic() - begin:.0f} seconds\n")
