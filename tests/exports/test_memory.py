"""Memory use of data exports."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from tempfile import TemporaryFile
from zipfile import ZipFile

from app.exports.archive import Archive

MIB = 1024 * 1024


def rows(count: int) -> Iterator[dict[str, object]]:
    for number in range(count):
        yield {"id": number, "title": "Closed on Friday", "message": f"{number} times " * 20}


def test_memory_does_not_grow_with_the_number_of_rows() -> None:
    with TemporaryFile() as file:
        tracemalloc.start()
        try:
            with Archive(file) as archive:
                archive.lines("inbox.jsonl", rows(60_000))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        with ZipFile(file) as archive:
            size = archive.getinfo("inbox.jsonl").file_size
    assert size > 15 * MIB
    assert peak < 3 * MIB
