"""File stores with one interface: a folder, an S3 bucket, or memory."""

from .files import (
    FileMissing,
    FileStore,
    LargeFileStore,
    MemoryFileStore,
    StorageUnavailable,
    StoredFile,
    UnsafeName,
)
from .local import LocalFileStore
from .s3 import S3FileStore

__all__ = [
    "FileMissing",
    "FileStore",
    "LargeFileStore",
    "LocalFileStore",
    "MemoryFileStore",
    "S3FileStore",
    "StorageUnavailable",
    "StoredFile",
    "UnsafeName",
]
