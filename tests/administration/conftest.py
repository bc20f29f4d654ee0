from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from ..conftest import MakePerson, Person
from ..core.test_security_log import LogEntries
from .admin_api import AdminApi


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="root")


@pytest.fixture
def admin_api(root: Person) -> AdminApi:
    return AdminApi(root.api())


@pytest.fixture
def security_lines(admin_api: AdminApi) -> Iterator[list[dict[str, Any]]]:
    """The security log entries after the administrator has signed in."""
    log, lines = logging.getLogger("frontdesk.security"), LogEntries()
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    yield lines.fields
    log.removeHandler(lines)
    log.setLevel(logging.NOTSET)
