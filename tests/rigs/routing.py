"""Shares compiled URL rules between the applications of a test run: compiling them takes more than
half of the time to create an application.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.routing import Rule

# Attributes that `Rule.compile` sets and nothing changes later.
_COMPILED = ("_parts", "_trace", "_converters", "arguments")
_BUILDERS = ("_build", "_build_unknown")


def cache_rules(patch: pytest.MonkeyPatch) -> None:
    """Compile equal rules once."""
    compile_rule: Callable[[Rule], None] = Rule.compile
    compiled: dict[tuple[Any, ...], Rule] = {}

    def compile_once(rule: Rule) -> None:
        first = compiled.setdefault(_key(rule), rule)
        if first is rule:
            compile_rule(rule)
            return
        for name in _COMPILED:
            setattr(rule, name, getattr(first, name))
        for name in _BUILDERS:
            setattr(rule, name, getattr(first, name).__func__.__get__(rule))

    patch.setattr(Rule, "compile", compile_once)


def _key(rule: Rule) -> tuple[Any, ...]:
    """Return everything that the compilation of a rule depends on."""
    assert rule.map is not None
    return (
        type(rule),
        rule.rule,
        rule.host if rule.map.host_matching else rule.subdomain,
        rule.merge_slashes,
        frozenset((rule.defaults or {}).items()),
        frozenset(rule.map.converters.items()),
    )
