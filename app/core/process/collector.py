"""A start without Python's garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Collect no garbage in a block that imports or assembles.

    It creates nearly no garbage, but the collector would look at all modules again and again, which
    took about a twentieth of the start of a small application.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
