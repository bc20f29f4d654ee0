"""The pytest plugin of the installed package. Fixtures import what they need when a test uses them.

The fixture `frontdesk` uses the project's own fixture `app`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from flask import Flask

    from .fakes import Fakes
    from .kit import Kit


@pytest.fixture
def frontdesk_fakes() -> Iterator[Fakes]:
    """Replace the clock, email and SMS of all applications with fakes.

    Yields:
        The fakes, with `clock`, `mails` and `sms`.
    """
    from .fakes import fakes

    with fakes() as replaced:
        yield replaced


@pytest.fixture
def frontdesk_twins(frontdesk_fakes: Fakes) -> Fakes:
    """The former name of `frontdesk_fakes`."""
    warnings.warn(
        "Use frontdesk_fakes: frontdesk_twins ends before 1.0.", DeprecationWarning, stacklevel=2
    )
    return frontdesk_fakes


@pytest.fixture
def frontdesk(frontdesk_fakes: Fakes, app: Flask) -> Kit:
    """Create accounts, sign in, read sent messages and move the clock of the fixture `app`.

    Example::

        def test_notes(frontdesk):
            ada = frontdesk.account("ada", role="admin")
            assert ada.api().get("/notes").json == []
    """
    from .kit import Kit

    return Kit(app, frontdesk_fakes)
