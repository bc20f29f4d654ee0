"""What makes the second application of a process quicker than the first: each has an environment of
its own, which would compile the same templates anew.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest
from jinja2 import Environment


def cache_templates(patch: pytest.MonkeyPatch) -> None:
    """Compile a template once for all environments that would make the same of it."""
    compile_anew: Any = Environment.compile
    kept: dict[tuple[Any, ...], CodeType] = {}

    def compile_once(
        self: Environment, source: Any, name: str | None = None, *more: Any, **options: Any
    ) -> Any:
        key = (source, name, more, *options.items(), *_manners(self, name))
        if key not in kept:
            kept[key] = compile_anew(self, source, name, *more, **options)
        return kept[key]

    patch.setattr(Environment, "compile", compile_once)


def _manners(environment: Environment, name: str | None) -> tuple[Any, ...]:
    """All of an environment that its code depends on."""
    escaping = environment.autoescape
    return (
        type(environment),
        escaping(name) if callable(escaping) else escaping,
        frozenset(environment.filters.items()),
        frozenset(environment.tests.items()),
        frozenset(environment.extensions),
        environment.undefined,
        environment.finalize,
        environment.trim_blocks,
        environment.lstrip_blocks,
        environment.keep_trailing_newline,
    )
