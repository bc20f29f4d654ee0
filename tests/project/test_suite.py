"""`make test`: its announcement, and the tests that it leaves to CI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import suite

from .. import rounds
from ..rigs.servers import ROOT

LISTED_FILES = (*rounds.LONG, *rounds.WAITING, *rounds.ALONE, *rounds.ON_SQLITE, *rounds.ON_BOTH)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """The arguments of each pytest run, without running it."""
    calls: list[tuple[str, ...]] = []

    def run(*arguments: str) -> int:
        calls.append(arguments)
        return 0

    monkeypatch.setattr(suite, "pytest", run)
    monkeypatch.setattr(suite, "LAST_RUN", tmp_path / "suite.json")
    monkeypatch.setattr("sys.argv", ["suite"])
    return calls


def test_first_run_prints_an_estimate(
    runs: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.main() == 0
    output = capsys.readouterr().out
    assert "The suite takes about " in output
    assert "estimated for this machine" in output
    assert [output.count(f"Round {number} of 3") for number in (1, 2, 3)] == [1, 1, 1]
    assert len(runs) == 3


def test_next_run_prints_the_time_of_the_last_run(
    runs: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    suite.LAST_RUN.write_text(json.dumps([600, 120, 61]))
    suite.main()
    output = capsys.readouterr().out
    assert "about 13 minutes, as the last run here" in output
    assert "Round 3 of 3, a minute: " in output
    assert len(json.loads(suite.LAST_RUN.read_text())) == len(runs)


def test_failed_run_does_not_record_its_time(
    runs: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "pytest", lambda *_: 1)
    assert suite.main() == 1
    assert not suite.LAST_RUN.exists()


@pytest.mark.parametrize("path", sorted({*LISTED_FILES}))
def test_listed_file_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_only_postgresql_repetitions_are_left_to_ci() -> None:
    tests = {
        f"{file}::test_it[{database}]"
        for file in ("tests/auth/test_totp.py", "tests/auth/test_login.py", "tests/core/test_db.py")
        for database in ("sqlite", "postgresql")
    }
    alone = "tests/auth/test_totp.py::test_lock[postgresql]"
    left = {test for test in {*tests, alone} if rounds.is_repetition(test, {*tests, alone})}
    assert left == {"tests/auth/test_totp.py::test_it[postgresql]"}
