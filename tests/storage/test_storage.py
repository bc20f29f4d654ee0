"""The three file stores behave the same: every test runs against each of them."""

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
    """Cache the client, because creating it is slow."""
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


def test_stored_file_is_read_back(store: FileStore) -> None:
    data = bytes(range(256)) * 100
    store.put("a1.png", data, "image/png")
    assert store.read("a1.png") == data


def test_large_file_is_stored_and_read_in_chunks(store: LargeFileStore) -> None:
    data = secrets.token_bytes(300_000)
    with TemporaryFile() as file:
        file.write(data)
        store.put_from("a1.zip", file, "application/zip")
    chunks = list(store.chunks("a1.zip"))
    assert b"".join(chunks) == store.read("a1.zip") == data
    assert max(map(len, chunks)) <= 64 * 1024


def test_missing_large_file_raises_immediately(store: LargeFileStore) -> None:
    with pytest.raises(FileMissing):
        store.chunks("missing.zip")


def test_empty_file_is_stored(store: FileStore) -> None:
    store.put("empty.bin", b"", "application/octet-stream")
    assert store.read("empty.bin") == b""
    assert names(store) == {"empty.bin"}


def test_file_with_the_same_name_is_replaced(store: FileStore) -> None:
    store.put("a1.png", b"earlier and longer", "image/png")
    store.put("a1.png", b"later", "image/png")
    assert store.read("a1.png") == b"later"
    assert names(store) == {"a1.png"}


def test_missing_file_raises(store: FileStore) -> None:
    with pytest.raises(FileMissing):
        store.read("missing.png")


def test_deleted_file_is_missing(store: FileStore) -> None:
    store.put("a1.png", b"x", "image/png")
    store.put("b2.png", b"y", "image/png")
    store.delete("a1.png")
    assert names(store) == {"b2.png"}
    with pytest.raises(FileMissing):
        store.read("a1.png")


def test_deleting_a_missing_file_does_nothing(store: FileStore) -> None:
    store.delete("missing.png")
    store.delete("missing.png")


def test_new_store_is_empty(store: FileStore) -> None:
    assert names(store) == set()


def test_list_has_the_time_of_storage(store: FileStore) -> None:
    store.put("a1.png", b"x", "image/png")
    [file] = store.files()
    assert abs(datetime.now(UTC) - file.stored_at) < timedelta(seconds=10)


def test_files_can_be_deleted_while_listing(store: FileStore) -> None:
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
def test_unsafe_name_is_rejected_by_every_method(store: FileStore, name: str) -> None:
    with pytest.raises(UnsafeName):
        store.put(name, b"x", "image/png")
    with pytest.raises(UnsafeName):
        store.read(name)
    with pytest.raises(UnsafeName):
        store.delete(name)
    assert names(store) == set()


def test_local_store_leaves_nothing_behind_when_writing_fails(
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


def test_local_store_lists_partial_files_of_killed_processes(tmp_path: Path) -> None:
    (tmp_path / "a1.png.0123.part").write_bytes(b"half")
    store = LocalFileStore(tmp_path)
    assert names(store) == {"a1.png.0123.part"}
    store.delete("a1.png.0123.part")
    assert names(store) == set()


def test_local_store_ignores_folders_links_and_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / ".keep").touch()
    (tmp_path / "link").symlink_to("/etc/hostname")
    assert names(LocalFileStore(tmp_path)) == set()


def test_local_store_in_a_path_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = LocalFileStore(tmp_path / "file")
    with pytest.raises(StorageUnavailable):
        store.put("a1.png", b"x", "image/png")
    with pytest.raises(StorageUnavailable):
        store.read("a1.png")


def test_s3_store_uses_its_prefix_and_the_content_type(s3_endpoint: str) -> None:
    client = boto3_client(s3_endpoint)
    client.create_bucket(Bucket="typed")
    S3FileStore(bucket_at(s3_endpoint, "typed", "pictures/")).put("a1.png", b"x", "image/png")
    head = client.head_object(Bucket="typed", Key="pictures/a1.png")
    assert head["ContentType"] == "image/png"


def test_s3_store_ignores_other_objects(s3_endpoint: str) -> None:
    client = boto3_client(s3_endpoint)
    client.create_bucket(Bucket="shared")
    for key in ("other.txt", "pictures/deeper/other.txt", "pictures/A.PNG"):
        client.put_object(Bucket="shared", Key=key, Body=b"x")
    store = S3FileStore(bucket_at(s3_endpoint, "shared", "pictures/"))
    store.put("a1.png", b"x", "image/png")
    assert names(store) == {"a1.png"}


def test_s3_store_lists_more_than_one_page(
    s3_store: S3FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.s3._PAGE", 2)
    stored = {f"{number}.png" for number in range(5)}
    for name in stored:
        s3_store.put(name, b"x", "image/png")
    assert names(s3_store) == stored


def test_s3_store_without_its_bucket_is_unavailable(
    s3_endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    store = S3FileStore(bucket_at(s3_endpoint, "nowhere"))
    with pytest.raises(StorageUnavailable):
        store.read("a1.png")
    with pytest.raises(StorageUnavailable):
        store.put("a1.png", b"x", "image/png")
    assert caplog.text.count("NoSuchBucket") == 2


def test_unreachable_s3_is_unavailable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        store = S3FileStore(bucket_at(f"http://127.0.0.1:{port}"))
        with pytest.raises(StorageUnavailable):
            store.read("a1.png")


def test_s3_without_response_is_unavailable_within_five_seconds() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = S3FileStore(bucket_at(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        for _ in range(2):  # the first call also loads boto3
            started = time.monotonic()
            with pytest.raises(StorageUnavailable):
                store.put("a1.png", b"x", "image/png")
        assert time.monotonic() - started < 5


def test_repr_hides_the_secret_key() -> None:
    assert "secret" not in repr(bucket_at("http://127.0.0.1:1"))


def test_boto3_is_imported_lazily() -> None:
    check = "import sys, app.storage; sys.exit('boto3' in sys.modules or 'botocore' in sys.modules)"
    command = [sys.executable, "-c", check]
    assert subprocess.run(command, env=checkout_environment(), check=False).returncode == 0
