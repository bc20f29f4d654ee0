"""Emailed proofs (links and codes): each is for one purpose, one subject and the subject's
state."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.auth.errors import InvalidProof
from app.auth.proofs import IssuedProof, Proofs, ProofSubject, Purpose
from app.core.keystore.memory import MemoryKeystore
from app.testing.clock import SteppingClock

LIFE = timedelta(hours=1)
RECOVERY = Purpose("recovery", LIFE, LIFE)
VERIFICATION = Purpose("verification", LIFE, LIFE)


def subject(kind: str = "account", id: Any = 7, state: Any = "unchanged") -> ProofSubject[str]:
    return ProofSubject(kind, id, (state,), f"{kind} {id}")


# An account, an email address without an account, and an invitation.
SUBJECTS = [subject(), subject("address", "new@example.com"), subject("invitation", 7, "open")]


@pytest.fixture
def proofs(clock: SteppingClock) -> Proofs:
    return Proofs("a secret for the tests", (), MemoryKeystore(clock), clock)


def by_token(
    proofs: Proofs, issued: IssuedProof, about: ProofSubject[str], purpose: Purpose
) -> str:
    def find(id: Any) -> ProofSubject[str]:
        assert id == about.id
        return about

    return proofs.by_token(purpose, about.kind, issued.token, find)


def by_code(
    proofs: Proofs, issued: IssuedProof, about: ProofSubject[str], purpose: Purpose, held: str = ""
) -> str:
    return proofs.by_code(purpose, about, issued.code, held)


METHODS = [by_token, by_code]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("about", SUBJECTS)
def test_proof_works_for_any_subject_with_an_id_and_a_state(
    proofs: Proofs, method: Any, about: ProofSubject[str]
) -> None:
    issued = proofs.issue(RECOVERY, about)
    assert method(proofs, issued, about, RECOVERY) == f"{about.kind} {about.id}"


@pytest.mark.parametrize("method", METHODS)
def test_proof_is_for_one_purpose(proofs: Proofs, method: Any) -> None:
    issued = proofs.issue(RECOVERY, subject())
    proofs.issue(VERIFICATION, subject())
    with pytest.raises(InvalidProof):
        method(proofs, issued, subject(), VERIFICATION)
    method(proofs, issued, subject(), RECOVERY)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("other", [subject("invitation"), subject(state="changed")])
def test_proof_is_for_one_subject_and_state(
    proofs: Proofs, method: Any, other: ProofSubject[str]
) -> None:
    issued = proofs.issue(RECOVERY, subject())
    with pytest.raises(InvalidProof):
        method(proofs, issued, other, RECOVERY)


def test_deleted_subject_has_no_proof(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject())
    with pytest.raises(InvalidProof):
        proofs.by_token(RECOVERY, "account", issued.token, lambda _id: None)


def test_code_is_bound_to_the_browsers_login_id(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject(), browser_secret="a login's id")
    for held in ("", "another login's id"):
        with pytest.raises(InvalidProof):
            by_code(proofs, issued, subject(), RECOVERY, held)
    by_code(proofs, issued, subject(), RECOVERY, "a login's id")


def test_login_id_and_code_cannot_be_recombined(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject(), browser_secret="held")
    shifted = issued._replace(code=issued.code[1:])
    with pytest.raises(InvalidProof):
        by_code(proofs, shifted, subject(), RECOVERY, "held" + issued.code[0])


def test_each_purpose_has_its_own_code_and_attempts(proofs: Proofs) -> None:
    issued = proofs.issue(RECOVERY, subject())
    other = proofs.issue(VERIFICATION, subject())
    wrong = other._replace(code="not it")
    for _ in range(6):
        with pytest.raises(InvalidProof):
            by_code(proofs, wrong, subject(), VERIFICATION)
    with pytest.raises(InvalidProof):
        by_code(proofs, other, subject(), VERIFICATION)
    by_code(proofs, issued, subject(), RECOVERY)


def test_concurrent_guesses_are_limited_to_five(proofs: Proofs) -> None:
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


@pytest.mark.parametrize("method", METHODS)
def test_proof_expires_with_its_purpose(proofs: Proofs, clock: SteppingClock, method: Any) -> None:
    short_lived = Purpose("brief", timedelta(minutes=5), timedelta(minutes=5))
    issued = proofs.issue(short_lived, subject())
    method(proofs, issued, subject(), short_lived)
    clock.step(minutes=6)
    with pytest.raises(InvalidProof):
        method(proofs, issued, subject(), short_lived)
