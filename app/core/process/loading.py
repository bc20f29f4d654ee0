"""Libraries without what they would load beside themselves.

For a process of our own alone: elsewhere somebody else may use what is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(name: str) -> Iterator[None]:
    """Whoever imports it meanwhile finds it not installed; what is loaded already stays."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
