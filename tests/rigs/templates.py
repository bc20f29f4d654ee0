"""Shares compiled templates between the applications of a test run."""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest
from jinja2 import Environment


def cache_templates(patch: pytest.MonkeyPatch) -> None:
    """Compile a template once for all environments that compile it the same way."""
    compile_template: Any = Environment.compile
    compiled: dict[tuple[Any, ...], CodeType] = {}

    def compile_once(
        self: Environment, source: Any, name: str | None = None, *more: Any, **options: Any
    ) -> Any:
        key = (source, name, more, *options.items(), *_key(self, name))
        if key not in compiled:
            compiled[key] = compile_template(self, source, name, *more, **options)
        return compiled[key]

    patch.setattr(Environment, "compile", compile_once)


def _key(environment: Environment, name: str | None) -> tuple[Any, ...]:
    """Return everything of an environment that compiled templates depend on."""
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
