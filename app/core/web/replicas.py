"""The decorator of views that read from the replica of the database."""

from collections.abc import Callable
from functools import wraps

from ..context import find_context
from ..errors import SetupError
from .operation import Params, Result, find_operation, operation


def reads_replica(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Run the view with a session of the replica, if `CORE__DATABASE_READ_URL` names one.

    Write it below the authentication decorators, which read from the primary, and above `@answers`.
    The view only reads, because it runs again on the primary after an error of the replica. Pages
    decorate the functions that read their lists.
    """
    described = find_operation(view)
    if described is not None and described.guard is not None:
        raise SetupError(
            f"@reads_replica of {view.__qualname__} is above its authentication decorators, which"
            " must not read from a replica: write @reads_replica below them."
        )

    @wraps(view)
    def read(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        replica = find_context().replica
        if replica is None:
            return view(*args, **kwargs)
        return replica.read(lambda: view(*args, **kwargs))

    operation(read)
    return read
