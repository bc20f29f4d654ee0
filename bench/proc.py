"""Measurements of processes from /proc, which other load on the machine hardly affects."""

import os
from collections.abc import Iterable
from pathlib import Path

TICK = 1.0 / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return the process and all its descendants."""
    found = [pid]
    for member in found:
        for task in _tasks(member):
            found += [int(child) for child in _read(task / "children").split()]
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the user and system time so far; ended processes are not counted."""
    total = 0
    for pid in pids:
        fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
        if fields:
            total += int(fields[11]) + int(fields[12])
    return total * TICK


def memory_mib(pid: int, field: str = "VmRSS") -> float:
    """Return memory in MiB: `VmRSS` is the current amount, `VmHWM` the highest so far."""
    for line in _read(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def own_mib(pid: int) -> float:
    """Return the process's share of memory, with shared pages divided among their processes."""
    for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
