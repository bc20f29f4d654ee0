"""Tables of cases that one application is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from itertools import count
from typing import Any

import pytest

Test = Callable[..., None]
_numbers = count(1)


def new_name(name: str) -> str:
    """For somebody whom one case alone is about."""
    return f"{name}{next(_numbers)}"


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, for cases that find everything as the one before has left it:
    all of them are tried, each that fails is named, and the fixtures are made once."""
    told = (names,) if isinstance(names, str) else names
    listed = [(case,) if isinstance(names, str) else tuple(case) for case in cases]

    def decorate(test: Test) -> Test:
        found = signature(test)

        @wraps(test)
        def try_all(*self: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in listed:
                given = dict(zip(told, case, strict=True))
                with subtests.test(**given):
                    test(*self, **fixtures, **given)

        fixtures = [each for name, each in found.parameters.items() if name not in told]
        asked = Parameter("subtests", Parameter.KEYWORD_ONLY)
        # Where pytest looks for the names of the fixtures.
        setattr(try_all, "__signature__", found.replace(parameters=[*fixtures, asked]))  # noqa: B010
        return try_all

    return decorate
