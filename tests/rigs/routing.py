"""What makes the second application of a process quicker than the first: more than half of what it
takes to make one is Werkzeug's reading of the rules of its routes, the same in each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.routing import Rule

# What a rule keeps of its reading. Nobody writes into them later.
_READ = ("_parts", "_trace", "_converters", "arguments")
_BUILDERS = ("_build", "_build_unknown")


def cache_rules(patch: pytest.MonkeyPatch) -> None:
    """Read equal rules once: each finds its converters and its defaults at itself."""
    read: Callable[[Rule], None] = Rule.compile
    kept: dict[tuple[Any, ...], Rule] = {}

    def read_once(rule: Rule) -> None:
        first = kept.setdefault(_meaning(rule), rule)
        if first is rule:
            read(rule)
            return
        for name in _READ:
            setattr(rule, name, getattr(first, name))
        for name in _BUILDERS:
            setattr(rule, name, getattr(first, name).__func__.__get__(rule))

    patch.setattr(Rule, "compile", read_once)


def _meaning(rule: Rule) -> tuple[Any, ...]:
    """All that a rule's reading depends on."""
    assert rule.map is not None
    return (
        type(rule),
        rule.rule,
        rule.host if rule.map.host_matching else rule.subdomain,
        rule.merge_slashes,
        frozenset((rule.defaults or {}).items()),
        frozenset(rule.map.converters.items()),
    )
