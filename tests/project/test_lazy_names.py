"""Names that are imported on first use exist. A misspelled one would fail only when it is used."""

from __future__ import annotations

from types import ModuleType

import pytest

import app
from app import blueprints, testing
from app.console.blueprint import lazy_view
from app.console.routes import ROUTES

from ..rigs.cases import for_each


@for_each("reference", [reference for _, _, reference in ROUTES])
def test_console_route_has_a_view(reference: str) -> None:
    assert lazy_view(reference).view.__name__ == reference.rpartition(".")[2]


@pytest.mark.parametrize("module", [app, blueprints, testing], ids=lambda each: each.__name__)
def test_public_name_exists(module: ModuleType) -> None:
    for name in module._HOMES:
        assert getattr(module, name) is not None, name
