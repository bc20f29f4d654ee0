from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.extension import Frontdesk
from app.notifications.sending import Sent

from ..conftest import MakePerson, Person

Notify = Callable[..., Sent]


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


@pytest.fixture
def notify(app: Flask) -> Notify:
    """As host code sends: `notify("Title", channels=["inapp", "email"])`."""

    def notify(title: str = "Hello", message: str = "A message.", **more: Any) -> Sent:
        with app.app_context():
            return Frontdesk().notify(title, message, **more)

    return notify
