"""The three file stores keep the same promises: every test runs against each of them."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from app.storage import (
    FileMissing,
    FileStore,
    LargeFileStore,
    LocalFileStore,
    MemoryFileStore,
    S3FileStore,
    StorageUnavailable,
    UnsafeName,
)
from app.storage.s3 import S3Bucket

from ..rigs.cases import for_each
from ..rigs.servers import checkout_environment


def bucket_at(endpoint: str, name: str = "avatars", prefix: str = "") -> S3Bucket:
    return S3Bucket(name, endpoint, "us-east-1", "access", "secret", prefix)


@cache
def boto3_client(endpoint: str) -> Any:
    """One for all, since it is long in the making."""
    from app.storage.s3 import _new_client

    return _new_client(bucket_at(endpoint))


@pytest.fixture
def s3_store(s3_endpoint: str) -> S3FileStore:
    name = f"bucket-{secrets.token_hex(8)}"
    boto3_client(s3_endpoint).create_bucket(Bucket=name)
    return S3FileStore(bucket_at(s3_endpoint, name, prefix="pictures/"))


@pytest.fixture(params=["memory", "local", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    if request.param == "memory":
        return MemoryFileStore()
    if request.param == "local":
        return LocalFileStore(tmp_path / "not" / "there" / "yet")
    found: S3FileStore = request.getfixturevalue("s3_store")
    return found


def names(store: FileStore) -> set[str]:
    return {file.name for file in store.files()}


def test_what_was_put_is_read_back(store: FileStore) -> None:
    data = bytes(range(256)) * 100
    store.put("a1.png", data, "image/png")
    assert store.read("a1.png") == data


def test_a_large_file_comes_and_goes_in_pieces(store: LargeFileStore) -> None:
    data = secrets.token_bytes(300_000)
    with TemporaryFile() as file:
        file.write(data)
        store.put_from("a1.zip", file, "application/zip")
    pieces = list(store.chunks("a1.zip"))
    assert b"".join(pieces) == store.read("a1.zip") == data
    assert max(map(len, pieces)) <= 64 * 1024


def test_a_large_file_that_was_never_put_is_missing_at_once(store: LargeFileStore) -> None:
    with pytest.raises(FileMissing):
        store.chunks("nobody.zip")


def test_an_empty_file_is_a_file(store: FileStore) -> None:
    store.put("empty.bin", b"", "application/octet-stream")
    assert store.read("empty.bin") == b""
    assert names(store) == {"empty.bin"}


def test_the_later_file_of_one_name_replaces_the_earlier(store: FileStore) -> None:
    store.put("a1.png", b"earlier and longer", "image/png")
    store.put("a1.png", b"later", "image/png")
    assert store.read("a1.png") == b"later"
    assert names(store) == {"a1.png"}


def test_a_file_that_was_never_put_is_missing(store: FileStore) -> None:
    with pytest.raises(FileMissing):
        store.read("nobody.png")


def test_a_deleted_file_is_gone(store: FileStore) -> None:
    store.put("a1.png", b"x", "image/png")
    store.put("b2.png", b"y", "image/png")
    store.delete("a1.png")
    assert names(store) == {"b2.png"}
    with pytest.raises(FileMissing):
        store.read("a1.png")


def test_deleting_what_is_not_there_is_quiet(store: FileStore) -> None:
    store.delete("nobody.png")
    store.delete("nobody.png")


def test_a_store_begins_empty(store: FileStore) -> None:
    assert names(store) == set()


def test_a_listing_tells_when_a_file_was_stored(store: FileStore) -> None:
    store.put("a1.png", b"x", "image/png")
    [file] = store.files()
    assert abs(datetime.now(UTC) - file.stored_at) < timedelta(seconds=10)


def test_files_may_be_deleted_while_they_are_listed(store: FileStore) -> None:
    for number in range(5):
        store.put(f"{number}.png", b"x", "image/png")
    for file in store.files():
        store.delete(file.name)
    assert names(store) == set()


UNSAFE = [
    "",
    ".",
    "..",
    "../secret",
    "a/../../secret",
    "/etc/passwd",
    "folder/file.png",
    "folder\\file.png",
    ".hidden",
    "a..png",
    "a.png.",
    "A1.PNG",
    "a b.png",
    "a\x00.png",
    "a.png\n",
    "ä.png",
    "٣.png",
    "a:b",
    "\ud800",
    "x" * 129,
]


@for_each("name", UNSAFE)
def test_an_unsafe_name_is_refused_by_every_method(store: FileStore, name: str) -> None:
    with pytest.raises(UnsafeName):
        store.put(name, b"x", "image/png")
    with pytest.raises(UnsafeName):
        store.read(name)
    with pytest.raises(UnsafeName):
        store.delete(name)
    assert names(store) == set()


def test_local_leaves_nothing_behind_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    store = LocalFileStore(tmp_path)
    store.put("a1.png", b"whole", "image/png")

    def disk_full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", disk_full)
    with pytest.raises(StorageUnavailable) as caught:
        store.put("a1.png", b"half", "image/png")
    assert "No space left" in caplog.text
    assert "No space left" not in caught.value.detail
    assert store.read("a1.png") == b"whole"
    assert names(store) == {"a1.png"}


def test_local_lists_what_a_dead_process_left_half_written(tmp_path: Path) -> None:
    (tmp_path / "a1.png.0123.part").write_bytes(b"half")
    store = LocalFileStore(tmp_path)
    assert names(store) == {"a1.png.0123.part"}
    store.delete("a1.png.0123.part")
    assert names(store) == set()


def test_local_passes_over_folders_links_and_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / ".keep").touch()
    (tmp_path / "link").symlink_to("/etc/hostname")
    assert names(LocalFileStore(tmp_path)) == set()


def test_local_in_a_place_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = LocalFileStore(tmp_path / "file")
    with pytest.raises(StorageUnavailable):
        store.put("a1.png", b"x", "image/png")
    with pytest.raises(StorageUnavailable):
        store.read("a1.png")


def test_s3_stores_under_its_prefix_with_the_content_type(s3_endpoint: str) -> None:
    client = boto3_client(s3_endpoint)
    client.create_bucket(Bucket="typed")
    S3FileStore(bucket_at(s3_endpoint, "typed", "pictures/")).put("a1.png", b"x", "image/png")
    head = client.head_object(Bucket="typed", Key="pictures/a1.png")
    assert head["ContentType"] == "image/png"


def test_s3_passes_over_objects_of_others(s3_endpoint: str) -> None:
    client = boto3_client(s3_endpoint)
    client.create_bucket(Bucket="shared")
    for key in ("other.txt", "pictures/deeper/other.txt", "pictures/A.PNG"):
        client.put_object(Bucket="shared", Key=key, Body=b"x")
    store = S3FileStore(bucket_at(s3_endpoint, "shared", "pictures/"))
    store.put("a1.png", b"x", "image/png")
    assert names(store) == {"a1.png"}


def test_s3_lists_more_than_one_page(
    s3_store: S3FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.s3._PAGE", 2)
    stored = {f"{number}.png" for number in range(5)}
    for name in stored:
        s3_store.put(name, b"x", "image/png")
    assert names(s3_store) == stored


def test_s3_without_its_bucket_is_unavailable(
    s3_endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    store = S3FileStore(bucket_at(s3_endpoint, "nowhere"))
    with pytest.raises(StorageUnavailable):
        store.read("a1.png")
    with pytest.raises(StorageUnavailable):
        store.put("a1.png", b"x", "image/png")
    assert caplog.text.count("NoSuchBucket") == 2


def test_s3_out_of_reach_is_unavailable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        store = S3FileStore(bucket_at(f"http://127.0.0.1:{port}"))
        with pytest.raises(StorageUnavailable):
            store.read("a1.png")


def test_s3_that_is_silent_is_unavailable_within_five_seconds() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = S3FileStore(bucket_at(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        for _ in range(2):  # the first of them also loads boto3
            started = time.monotonic()
            with pytest.raises(StorageUnavailable):
                store.put("a1.png", b"x", "image/png")
        assert time.monotonic() - started < 5


def test_the_secret_key_does_not_show_in_print() -> None:
    assert "secret" not in repr(bucket_at("http://127.0.0.1:1"))


def test_boto3_is_not_imported_before_it_is_used() -> None:
    check = "import sys, app.storage; sys.exit('boto3' in sys.modules or 'botocore' in sys.modules)"
    command = [sys.executable, "-c", check]
    assert subprocess.run(command, env=checkout_environment(), check=False).returncode == 0
