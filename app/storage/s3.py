"""Files in an S3-compatible bucket. boto3 is heavy and optional: it is imported on first use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any

from ..core.types import JsonObject
from .files import (
    CHUNK_BYTES,
    FileMissing,
    StorageUnavailable,
    StoredFile,
    UnsafeName,
    checked_name,
)

# A request fails within five seconds if the store does not respond, so nothing is retried.
_CONNECT_SECONDS = 2
_READ_SECONDS = 2.5
# For large files, which are not stored during a request.
_LARGE_FILE_SECONDS = 60.0
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class S3Bucket:
    """The bucket, its endpoint and its keys; without keys boto3 searches its usual places."""

    name: str
    endpoint_url: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    prefix: str = ""


class S3FileStore:
    """Keeps files as objects of one bucket, all under one prefix."""

    def __init__(self, bucket: S3Bucket) -> None:
        self._bucket = bucket
        self._lock = Lock()
        self._clients: dict[float, Any] = {}

    def put(self, name: str, data: bytes, content_type: str) -> None:
        key = self._key(name)
        with _storage_errors(name):
            self._client().put_object(
                Bucket=self._bucket.name, Key=key, Body=data, ContentType=content_type
            )

    def read(self, name: str) -> bytes:
        key = self._key(name)
        with _storage_errors(name):
            answer = self._client().get_object(Bucket=self._bucket.name, Key=key)
            data: bytes = answer["Body"].read()
        return data

    def put_from(self, name: str, file: IO[bytes], content_type: str) -> None:
        key = self._key(name)
        file.seek(0)
        with _storage_errors(name):
            self._client(_LARGE_FILE_SECONDS).put_object(
                Bucket=self._bucket.name, Key=key, Body=file, ContentType=content_type
            )

    def chunks(self, name: str) -> Iterator[bytes]:
        with _storage_errors(name):
            answer = self._client().get_object(Bucket=self._bucket.name, Key=self._key(name))
        return _pieces(name, answer["Body"])

    def delete(self, name: str) -> None:
        key = self._key(name)
        with _storage_errors(name):
            self._client().delete_object(Bucket=self._bucket.name, Key=key)

    def is_open(self, name: str) -> bool:
        """Return whether a client without credentials can read the file."""
        from botocore.exceptions import ClientError

        key, anonymous = self._key(name), _new_client(self._bucket, is_anonymous=True)
        with _storage_errors(name):
            try:
                anonymous.get_object(Bucket=self._bucket.name, Key=key)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] in (401, 403):
                    return False
                raise
        return True

    def files(self) -> Iterator[StoredFile]:
        with _storage_errors(self._bucket.prefix):
            pages = self._client().get_paginator("list_objects_v2")
            for page in pages.paginate(
                Bucket=self._bucket.name,
                Prefix=self._bucket.prefix,
                PaginationConfig={"PageSize": _PAGE},
            ):
                for item in page.get("Contents", ()):
                    yield from self._stored_file(item)

    def _key(self, name: str) -> str:
        return self._bucket.prefix + checked_name(name)

    def _stored_file(self, item: JsonObject) -> Iterator[StoredFile]:
        """Yield the object unless another program must have written it."""
        name = item["Key"].removeprefix(self._bucket.prefix)
        try:
            yield StoredFile(checked_name(name), item["LastModified"])
        except UnsafeName:
            return

    def _client(self, read_seconds: float = _READ_SECONDS) -> Any:
        # Created once, after the fork: threads can share a client, but not create one at once.
        with self._lock:
            if read_seconds not in self._clients:
                self._clients[read_seconds] = _new_client(self._bucket, read_seconds)
            return self._clients[read_seconds]


def _pieces(name: str, body: Any) -> Iterator[bytes]:
    with body, _storage_errors(name):
        yield from body.iter_chunks(CHUNK_BYTES)


def _new_client(
    bucket: S3Bucket, read_seconds: float = _READ_SECONDS, *, is_anonymous: bool = False
) -> Any:
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    config = Config(
        signature_version=UNSIGNED if is_anonymous else None,
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"total_max_attempts": 1},
        # Servers other than Amazon's reject the checksums that boto3 sends by default since 1.36.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        # Such servers seldom have a host name for each bucket.
        s3={"addressing_style": "path" if bucket.endpoint_url else "auto"},
    )
    return boto3.session.Session().client(
        "s3",
        endpoint_url=bucket.endpoint_url,
        region_name=bucket.region,
        aws_access_key_id=bucket.access_key,
        aws_secret_access_key=bucket.secret_key,
        config=config,
    )


@contextmanager
def _storage_errors(name: str) -> Iterator[None]:
    """Convert boto3's errors to FileMissing and StorageUnavailable."""
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in {"NoSuchKey", "404"}:
            raise FileMissing(name) from error
        raise StorageUnavailable(f"the bucket rejected the request: {code}") from error
    except (BotoCoreError, HTTPClientError, HTTPError) as error:
        reason = type(error).__name__
        raise StorageUnavailable(f"the bucket did not respond: {reason}") from error
