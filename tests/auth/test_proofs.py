"""A proof is for one purpose, about one subject, and about it as it was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.auth.errors import InvalidProof
from app.auth.proofs import Issued, Proofs, ProofSubject, Purpose
from app.core.keystore.memory import MemoryKeystore
from app.testing.clock import SteppingClock

LIFE = timedelta(hours=1)
RECOVERY = Purpose("recovery", LIFE, LIFE)
VERIFICATION = Purpose("verification", LIFE, LIFE)


def subject(kind: str = "account", id: Any = 7, state: Any = "as it was") -> ProofSubject[str]:
    return ProofSubject(kind, id, (state,), f"{kind} {id}")


# An account, an address that nobody has registered yet, an invitation.
SUBJECTS = [subject(), subject("address", "new@example.com"), subject("invitation", 7, "open")]


@pytest.fixture
def proofs(clock: SteppingClock) -> Proofs:
    return Proofs("a secret of the tests' own", (), MemoryKeystore(clock), clock)


def by_token(proofs: Proofs, issued: Issued, about: ProofSubject[str], purpose: Purpose) -> str:
    def find(id: Any) -> ProofSubject[str]:
        assert id == about.id
        return about

    return proofs.by_token(purpose, about.kind, issued.token, find)


def by_code(
    proofs: Proofs, issued: Issued, about: ProofSubject[str], purpose: Purpose, held: str = ""
) -> str:
    return proofs.by_code(purpose, about, issued.code, held)


WAYS = [by_token, by_code]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("about", SUBJECTS)
def test_a_proof_is_about_whatever_has_an_id_and_a_state(
    proofs: Proofs, way: Any, about: ProofSubject[str]
) -> None:
    issued = proofs.issue(RECOVERY, about)
    assert way(proofs, issued, about, RECOVERY) == f"{about.kind} {about.id}"


@pytest.mark.parametrize("way", WAYS)
def test_a_proof_for_one_purpose_is_good_for_no_other(proofs: Proofs, way: Any) -> None:
    issued = proofs.issue(RECOVERY, subject())
    proofs.issue(VERIFICATION, subject())
    with pytest.raises(InvalidProof):
        way(proofs, issued, subject(), VERIFICATION)
    way(proofs, issued, subject(), RECOVERY)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", [subject("invitation"), subject(state="changed")])
def test_a_proof_is_good_for_no_other_subject_and_no_other_state(
    proofs: Proofs, way: Any, other: ProofSubject[str]
) -> None:
    issued = proofs.issue(RECOVERY, subject())
    with pytest.raises(InvalidProof):
        way(proofs, issued, other, RECOVERY)


def test_a_subject_that_is_gone_has_no_proof(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject())
    with pytest.raises(InvalidProof):
        proofs.by_token(RECOVERY, "account", issued.token, lambda _id: None)


def test_a_code_may_be_bound_to_what_the_asking_browser_holds(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject(), held="a login's id")
    for held in ("", "another's"):
        with pytest.raises(InvalidProof):
            by_code(proofs, issued, subject(), RECOVERY, held)
    by_code(proofs, issued, subject(), RECOVERY, "a login's id")


def test_no_mixture_of_what_is_held_and_the_code_is_another_pair(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject(), held="held")
    shifted = issued._replace(code=issued.code[1:])
    with pytest.raises(InvalidProof):
        by_code(proofs, shifted, subject(), RECOVERY, "held" + issued.code[0])


def test_each_purpose_has_its_own_newest_code_and_its_own_tries(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject())
    other = proofs.issue(VERIFICATION, subject())
    wrong = other._replace(code="not it")
    for _ in range(6):
        with pytest.raises(InvalidProof):
            by_code(proofs, wrong, subject(), VERIFICATION)
    with pytest.raises(InvalidProof):
        by_code(proofs, other, subject(), VERIFICATION)
    by_code(proofs, issued, subject(), RECOVERY)


def test_of_many_guesses_at_once_five_are_looked_at(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject())
    codes = ["wrong"] * 5 + [issued.code] * 20

    def passes(code: str) -> bool:
        try:
            proofs.by_code(RECOVERY, subject(), code)
        except InvalidProof:
            return False
        return True

    for code in codes[:5]:
        assert not passes(code)
    with ThreadPoolExecutor(8) as threads:
        assert not any(threads.map(passes, codes[5:]))


@pytest.mark.parametrize("way", WAYS)
def test_each_ends_with_its_purposes_own_time(
    proofs: Proofs, clock: SteppingClock, way: Any
) -> None:
    brief = Purpose("brief", timedelta(minutes=5), timedelta(minutes=5))
    issued = proofs.issue(brief, subject())
    way(proofs, issued, subject(), brief)
    clock.step(minutes=6)
    with pytest.raises(InvalidProof):
        way(proofs, issued, subject(), brief)
