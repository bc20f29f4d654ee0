"""What is left out, or for later, while a library is loaded."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from app.core.process.loading import patterns_when_used, without


def test_a_library_is_left_out_for_as_long_as_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with without("wave"), pytest.raises(ImportError):
        importlib.import_module("wave")
    assert "wave" not in sys.modules


def test_it_comes_back_when_another_one_fails_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with pytest.raises(ZeroDivisionError), without("wave"):
        raise ZeroDivisionError
    assert importlib.import_module("wave").__name__ == "wave"


def test_what_is_loaded_already_stays() -> None:
    with without("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json


_WITH_PATTERNS = """
import re
from abc import ABC

class Words(ABC):
    WORD = re.compile("[a-z]+", re.IGNORECASE)
    WRONG = re.compile("(")
"""


def test_a_pattern_is_compiled_when_it_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "with_patterns.py").write_text(_WITH_PATTERNS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "with_patterns", raising=False)
    with patterns_when_used("with_patterns"):
        words = importlib.import_module("with_patterns").Words
        assert isinstance(re.compile("[a-z]"), re.Pattern)
    assert words.WORD.fullmatch("Word")
    assert words.WORD.pattern == "[a-z]+"
    with pytest.raises(re.error):
        words.WRONG.match("")
    with pytest.raises(re.error):
        re.compile("(")
