"""Tables of test cases that share one application."""

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
    """Return a name for an account that a single case uses."""
    return f"{name}{next(_numbers)}"


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but all cases share the fixtures and run as subtests: the
    fixtures are created once, and each failing case is named."""
    case_names = (names,) if isinstance(names, str) else names
    rows = [(case,) if isinstance(names, str) else tuple(case) for case in cases]

    def decorate(test: Test) -> Test:
        test_signature = signature(test)

        @wraps(test)
        def try_all(*self: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in rows:
                values = dict(zip(case_names, case, strict=True))
                with subtests.test(**values):
                    test(*self, **fixtures, **values)

        fixtures = [
            each for name, each in test_signature.parameters.items() if name not in case_names
        ]
        subtests_parameter = Parameter("subtests", Parameter.KEYWORD_ONLY)
        # pytest reads the names of the fixtures from the signature.
        new_signature = test_signature.replace(parameters=[*fixtures, subtests_parameter])
        setattr(try_all, "__signature__", new_signature)  # noqa: B010
        return try_all

    return decorate
