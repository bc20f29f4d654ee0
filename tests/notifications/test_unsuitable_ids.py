"""Account models with and without ids for shared broadcasts, and the finding of the doctor."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Identity, Sequence
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Frontdesk
from app.core.context import service
from app.doctor.checks import findings
from app.doctor.set_up import check_broadcasts
from app.notifications.service import Notifications
from app.notifications.settings import NotificationsSettings

from ..conftest import Backend
from ..rigs.hosts import HostSettings

WITH_AUTOINCREMENT = {"sqlite_autoincrement": True}


def integer(*arguments: Any, **more: Any) -> Any:
    return mapped_column(*arguments, primary_key=True, **more)


def host_with_ids(
    backend: Backend, key: Any, options: dict[str, Any], kind: type = int, setting: Any = "shared"
) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = backend.database_url
    db = SQLAlchemy(host)
    annotations = {"id": Mapped[kind]}  # type: ignore[valid-type]
    members = {
        "__tablename__": "users",
        "__table_args__": options,
        "__annotations__": annotations,
        "id": key,
    }
    model: Any = type("Reader", (AccountMixin, db.Model), members)
    settings: Any = HostSettings()
    settings.NOTIFICATIONS = NotificationsSettings(BROADCASTS=setting)
    Frontdesk().init_app(host, db, settings=settings, account_model=model)
    return host


def is_shared(host: Flask) -> bool:
    """Return whether broadcasts are shared. If they are not, the doctor reports it."""
    with host.app_context():
        reported = [(each.check, each.level) for each in findings([check_broadcasts])]
        shared = service(Notifications).shared is not None
    assert reported == ([] if shared else [("broadcasts", "warning")])
    return shared


@pytest.mark.parametrize("key", [(), (Identity(),), (Identity(start=1000, increment=1, cache=1),)])
def test_broadcasts_are_shared_with_ids_in_ascending_order(backend: Backend, key: Any) -> None:
    assert is_shared(host_with_ids(backend, integer(*key), WITH_AUTOINCREMENT))


def test_sqlite_needs_autoincrement_and_postgresql_does_not(backend: Backend) -> None:
    is_postgresql = backend.database_url.startswith("postgresql")
    assert is_shared(host_with_ids(backend, integer(), {})) == is_postgresql


@pytest.mark.parametrize(
    "default",
    [
        Identity(cache=20),
        Identity(increment=-1),
        Identity(cycle=True),
        Sequence("users_id_seq", cache=20),
        Sequence("users_id_seq", increment=10),
    ],
)
def test_sequences_without_ascending_ids_are_not_shared(backend: Backend, default: Any) -> None:
    assert not is_shared(host_with_ids(backend, integer(default), WITH_AUTOINCREMENT))


def test_ids_of_the_application_are_not_shared(backend: Backend) -> None:
    given = integer(autoincrement=False)
    assert not is_shared(host_with_ids(backend, given, {}))
    assert not is_shared(host_with_ids(backend, integer(default=uuid4), {}, UUID))


def test_doctor_reports_nothing_about_ids_with_rows(backend: Backend) -> None:
    host = host_with_ids(backend, integer(default=uuid4), {}, UUID, setting="rows")
    with host.app_context():
        assert findings([check_broadcasts]) == []
