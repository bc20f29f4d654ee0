"""Names the first proof of rejected sign-ins, for the metric of sign-ins."""

from collections.abc import Iterator
from contextlib import contextmanager

from ...core.errors import Problem

# In the note of a problem, which is not part of the response.
PROOF = "proof"


@contextmanager
def sign_in_by(proof: str) -> Iterator[None]:
    """Decorate what signs in by a proof: its problems are rejected sign-ins by this proof."""
    try:
        yield
    except Problem as problem:
        note_proof(problem, proof)
        raise


def note_proof(problem: Problem, proof: str) -> Problem:
    problem.note = {**problem.note, PROOF: proof}
    return problem
