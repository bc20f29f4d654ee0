"""Errors of forms that upload a picture."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import Fault, Problem, TooLarge
from .error_texts import message_for
from .texts import _


@contextmanager
def picture_errors(name: str) -> Iterator[None]:
    """Report all errors at the field of this name, the only one of the form."""
    try:
        yield
    except Problem as problem:
        if problem.faults:
            # The service names the field of an avatar.
            problem.faults = [fault._replace(field=name) for fault in problem.faults]
        else:
            is_too_large = problem.status == TooLarge.status
            text = _("The picture is larger than 5 MiB.") if is_too_large else message_for(problem)
            problem.faults = [Fault("files", name, text)]
        raise
