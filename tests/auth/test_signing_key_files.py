"""Signing keys of an application, and of a worker that starts after a change."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.auth.settings import AuthSettings
from app.auth.tokens.key_file import KeyFile
from app.auth.tokens.signing_keys import SigningKeys
from app.blueprints import auth, well_known
from app.testing.client import Api

from ..rigs.hosts import HostSettings, host_with
from ..rigs.signing_keys import EDDSA, ES256, STRANGE, key_set, public
from ..server.test_start import loaded_modules
from .test_signing_keys import BOTH, JWKS


def test_application_publishes_its_keys() -> None:
    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, SIGNING_KEYS=BOTH)
    app = host_with((auth, "/api"), (well_known, ""), settings=settings)
    assert Api(app, "").get(JWKS).json["keys"] == [public(ES256), public(EDDSA)]


def keys_in_child(keys: SigningKeys) -> list[str]:
    """Return the names of the keys in a forked process, as in a new worker."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, json.dumps(list(keys.all())).encode())
        os._exit(0)
    os.wait()
    with os.fdopen(read) as pipe:
        os.close(write)
        return list(json.loads(pipe.read()))


def test_new_worker_reads_the_file_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "keys.json"
    path.write_text(key_set(ES256))
    keys = SigningKeys("keys.json", tmp_path)
    assert list(keys.all()) == [ES256["kid"]]
    path.write_text(key_set(EDDSA, ES256))
    assert list(keys.all()) == [ES256["kid"]]
    assert keys_in_child(keys) == [EDDSA["kid"], ES256["kid"]]
    # A worker meets a key of a newer worker.
    assert keys.find(EDDSA["kid"]) is not None
    path.write_text("{")
    assert keys_in_child(keys) == [EDDSA["kid"], ES256["kid"]]
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert keys.find(STRANGE["kid"]) is None
    assert [record.message for record in caplog.records] == [
        'AUTH.SIGNING_KEYS is not a JWK set, {"keys": […]}. The keys from before the last change'
        " stay in use."
    ]


def test_changes_at_once_lose_no_key(tmp_path: Path) -> None:
    def add(_: int) -> str:
        return KeyFile(SigningKeys("keys.json", tmp_path)).add("EdDSA", first=False)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(add, range(32)))
    assert sorted(SigningKeys("keys.json", tmp_path).all()) == sorted(made)


def test_without_keys_no_key_is_imported(tmp_path: Path) -> None:
    off = loaded_modules(tmp_path)
    assert not {"cryptography", "app.auth.tokens.signing_keys"} & off
    assert "app.auth.tokens.signing_keys" in loaded_modules(tmp_path, AUTH__SIGNING_KEYS=BOTH)
