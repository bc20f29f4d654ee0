"""Libraries without what they would load or compile beside themselves.

For a process of our own alone: elsewhere somebody else may use what is left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any


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


@contextmanager
def patterns_when_used(name: str) -> Iterator[None]:
    """The module of this name, loaded meanwhile, compiles its patterns when they are first used."""
    compile_now = re.compile

    def compile_later(pattern: str, flags: int = 0) -> Any:
        if sys._getframe(1).f_globals["__name__"] != name:
            return compile_now(pattern, flags)
        return _Pattern(pattern, flags)

    re.compile = compile_later  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile = compile_now


class _Pattern:
    """Stands in for a compiled one until somebody asks it for anything."""

    # A class that it is part of asks for this as it is made.
    __isabstractmethod__ = False

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)
