"""`@admits`: a route that leads through the gate says so, and what may be answered there."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.context import service
from ...core.errors import Problem
from ...core.web.operation import raises_found
from .policy import SignInPolicy


def _refusals_of_stages() -> Iterable[type[Problem]]:
    return service(SignInPolicy).refusals


admits = raises_found(_refusals_of_stages)
