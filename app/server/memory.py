"""What a worker does about its memory, whichever server it belongs to."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# What `mallopt` calls the size from which a block is mapped by itself.
M_MMAP_THRESHOLD = -3


def release_large_blocks() -> None:
    """Once a large block was freed, glibc keeps such blocks on its heap, where they may stay for
    ever: told a size, it goes on giving each back to the system."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * 1024)
