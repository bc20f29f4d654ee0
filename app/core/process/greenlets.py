"""Work that would stop a server of greenlets, `gunicorn -k gevent`: one thread serves all of its
requests, and a password's hash alone keeps it for a quarter of a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

Params = ParamSpec("Params")
Result = TypeVar("Result")


def aside(work: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs) -> Result:
    """Done by a thread of gevent's own where greenlets have taken the place of threads, else here.

    For computing alone: what waits for greenlets, or talks to the database, has no place there.
    """
    if not in_place_of_threads():
        return work(*args, **kwargs)
    gevent: Any = sys.modules["gevent"]
    return cast(Result, gevent.get_hub().threadpool.apply(work, args, kwargs))


def in_place_of_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))
