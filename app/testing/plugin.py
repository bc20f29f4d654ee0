"""The pytest plugin. It comes with the installed package, so nothing heavy is imported here: what
a fixture needs is imported when a test asks for it.

`frontdesk` works on the application of the project's own fixture `app`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from flask import Flask

    from .kit import Kit
    from .twins import Twins


@pytest.fixture
def frontdesk_twins() -> Iterator[Twins]:
    """A clock that steps, and outboxes in the place of mail and SMS, for every application."""
    from .twins import twins

    with twins() as made:
        yield made


@pytest.fixture
def frontdesk(frontdesk_twins: Twins, app: Flask) -> Kit:
    """Accounts, who signs in, what was mailed, and the time; for the application of `app`."""
    from .kit import Kit

    return Kit(app, frontdesk_twins)
