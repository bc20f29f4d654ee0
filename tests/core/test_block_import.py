"""Blocking the import of a module while another library is loaded."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from app.core.process.servers import block_import


def test_blocked_import_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with block_import("wave"), pytest.raises(ImportError):
        importlib.import_module("wave")
    assert "wave" not in sys.modules


def test_import_works_again_after_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with pytest.raises(ZeroDivisionError), block_import("wave"):
        raise ZeroDivisionError
    assert importlib.import_module("wave").__name__ == "wave"


def test_an_imported_module_stays_available() -> None:
    with block_import("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json
