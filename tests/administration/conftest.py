from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from ..conftest import MakePerson, Person
from ..core.test_security_log import Lines
from .people import Desk


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="root")


@pytest.fixture
def desk(root: Person) -> Desk:
    return Desk(root.api())


@pytest.fixture
def security_lines(desk: Desk) -> Iterator[list[dict[str, Any]]]:
    """What the security log is told after the administrator has sat down."""
    log, lines = logging.getLogger("frontdesk.security"), Lines()
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    yield lines.fields
    log.removeHandler(lines)
    log.setLevel(logging.NOTSET)
