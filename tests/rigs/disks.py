"""A disk that can be full: a small file system, or, without the right to mount one, a limit on the
size of files, which causes a similar error."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = 4 << 20


class SmallDisk:
    def __init__(self, folder: Path, mounted: bool) -> None:
        self.folder = folder
        self.mounted = mounted
        self._ballast = folder / "ballast"

    def fill(self, processes: Iterable[int]) -> None:
        """Fill the disk; `processes` are the processes that write to it."""
        if not self.mounted:
            largest = max(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
            _limit(processes, largest // 2)
            return
        with self._ballast.open("wb", buffering=0) as ballast:
            for size in (1 << 16, 1 << 10, 1):
                try:
                    while ballast.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def free_space(self, processes: Iterable[int]) -> None:
        if self.mounted:
            self._ballast.unlink()
        else:
            _limit(processes, resource.RLIM_INFINITY)


def _limit(processes: Iterable[int], size: int) -> None:
    for process in processes:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    folder.mkdir()
    mounted = os.geteuid() == 0 and _run(
        "mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder
    )
    try:
        yield SmallDisk(folder, mounted)
    finally:
        if mounted:
            _run("umount", "--lazy", folder)


def _run(*command: object) -> bool:
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    return done.returncode == 0
