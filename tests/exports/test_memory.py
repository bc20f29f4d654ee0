"""What a copy takes in memory, whatever is in it."""

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


def test_lines_take_no_more_memory_for_being_many() -> None:
    with TemporaryFile() as file:
        tracemalloc.start()
        try:
            with Archive(file) as archive:
                archive.lines("inbox.jsonl", rows(60_000))
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        with ZipFile(file) as written:
            size = written.getinfo("inbox.jsonl").file_size
    assert size > 15 * MIB
    assert most < 3 * MIB
