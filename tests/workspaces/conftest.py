"""Fixture: an application where owners add members without an invitation."""

from __future__ import annotations

import pytest
from flask import Flask

from ..conftest import MakeApp


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(WORKSPACES__ADDING="direct")
