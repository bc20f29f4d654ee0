"""Audit log entries of an application's actions and accounts."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Uuid
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, SetupError, active_account_required, blueprints
from app.core.context import current_frontdesk
from app.testing.people import make_person

from ..rigs.hosts import HostSettings
from .entries import records, types


@pytest.fixture
def frontdesk() -> Frontdesk:
    frontdesk = Frontdesk()
    # [declare]
    frontdesk.record_type("notes.exported", "Notes exported", count="number of notes")
    # [end]
    return frontdesk


@pytest.fixture
def host(frontdesk: Frontdesk) -> Flask:
    """An application that has accounts with UUIDs and commits its transactions."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    key = mapped_column("id", Uuid, primary_key=True, default=uuid.uuid4)
    model: Any = type("Account", (AccountMixin, db.Model), {"id": key})
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=model)
    host.register_blueprint(blueprints.auth)

    @host.post("/exports/<ending>")
    @active_account_required
    def export(ending: str) -> str:
        # [record]
        frontdesk.record("notes.exported", target=("board", 17), count=12)
        # [end]
        getattr(db.session, ending)()
        return "done"

    with host.app_context():
        db.create_all()
    return host


def test_applications_action_is_recorded_with_its_actor(host: Flask) -> None:
    ada = make_person(host, "ada")
    ada.api().post("/exports/commit")
    [found] = records(host, type="notes.exported")
    assert isinstance(ada.id, uuid.UUID)
    assert (found.actor_id, found.account_id) == (ada.id, ada.id)
    assert (found.target_kind, found.target_id) == ("board", "17")
    assert found.data == {"count": 12}


def test_rolled_back_application_action_has_no_entry(host: Flask) -> None:
    make_person(host, "ada").api().post("/exports/rollback")
    assert "notes.exported" not in types(host)


def test_entries_belong_to_the_applications_transaction(host: Flask, frontdesk: Frontdesk) -> None:
    ada = make_person(host, "ada")
    with host.app_context():
        with frontdesk.transaction():
            frontdesk.record("notes.exported", account=ada, workspace=7, count=1)
        frontdesk.record("notes.exported", account=ada.id, count=2)
        current_frontdesk.session.commit()
    first, second = records(host, type="notes.exported")
    assert (first.account_id, first.workspace_id, second.data) == (ada.id, 7, {"count": 2})
    assert first.actor_kind == "system"


def test_later_declared_type_is_accepted(host: Flask, frontdesk: Frontdesk) -> None:
    frontdesk.record_type("notes.lost", "Notes lost")
    with host.app_context():
        frontdesk.record("notes.lost")
        current_frontdesk.session.commit()
    assert types(host) == ["notes.lost"]


@pytest.mark.parametrize("name", ["export", "Notes.Exported", "notes.", "a" * 60 + ".exported"])
def test_type_name_must_have_the_format(frontdesk: Frontdesk, name: str) -> None:
    with pytest.raises(SetupError, match="is written as"):
        frontdesk.record_type(name, "x")


def test_reserved_and_undeclared_types_are_rejected(host: Flask, frontdesk: Frontdesk) -> None:
    with pytest.raises(SetupError, match="Frontdesk's own"):
        frontdesk.record_type("login.succeeded", "x")
    with host.app_context():
        with pytest.raises(SetupError, match=r'frontdesk.record_type\("notes.shared"'):
            frontdesk.record("notes.shared")
        with pytest.raises(SetupError, match="has no 'secret'"):
            frontdesk.record("notes.exported", secret="x")
