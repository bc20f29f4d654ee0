from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from werkzeug.routing import Rule


class RuleReadFirst(Rule):
    """A rule whose way back, from an endpoint to a URL, is made when it is first asked for.

    Werkzeug compiles a function for it, twice for each rule: three quarters of the time in which
    this application is made, and few of its routes are ever linked to.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)

        def build(rule: Rule, /, **values: Any) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build
