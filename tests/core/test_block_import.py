"""What is left out, or for later, while a library is loaded."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from app.core.process.servers import block_import


def test_a_library_is_left_out_for_as_long_as_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with block_import("wave"), pytest.raises(ImportError):
        importlib.import_module("wave")
    assert "wave" not in sys.modules


def test_it_comes_back_when_another_one_fails_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with pytest.raises(ZeroDivisionError), block_import("wave"):
        raise ZeroDivisionError
    assert importlib.import_module("wave").__name__ == "wave"


def test_what_is_loaded_already_stays() -> None:
    with block_import("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json
