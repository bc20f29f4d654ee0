"""An application with its own declarative base and naming convention."""

from __future__ import annotations

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase, Mapped, declarative_base, mapped_column

from app import AccountMixin, Frontdesk, blueprints
from app.core.db.base import Base as OurBase
from app.testing.people import make_person

from ...rigs.hosts import HostSettings

CONVENTION = {"ix": "ix_%(column_0_label)s", "uq": "%(table_name)s_%(column_0_name)s_key"}


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=CONVENTION)


db = SQLAlchemy(model_class=Base)


class Shelf(db.Model):  # type: ignore[misc, name-defined]
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)


class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    shelf_id: Mapped[int | None]


older = SQLAlchemy(model_class=declarative_base())


class OlderAccount(AccountMixin, older.Model):  # type: ignore[misc, name-defined]
    pass


def host_with(db: SQLAlchemy, account_model: type) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db.init_app(host)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=account_model)
    host.register_blueprint(blueprints.auth)
    with host.app_context():
        db.create_all()
    return host


@pytest.mark.parametrize(("database", "model"), [(db, Account), (older, OlderAccount)])
def test_account_signs_in(database: SQLAlchemy, model: type) -> None:
    make_person(host_with(database, model), "ada").api().get("/account")


def test_naming_convention_does_not_rename_existing_constraints() -> None:
    host_with(db, Account)
    assert {key.name for key in db.metadata.tables["shelf"].constraints} == {None, "shelf_name_key"}
    original = OurBase.metadata.tables["frontdesk_profiles"]
    copy = db.metadata.tables["frontdesk_profiles"]
    assert {key.name for key in original.constraints} < {key.name for key in copy.constraints}
    assert "fk_frontdesk_profiles_account_id" in {key.name for key in copy.constraints}
    assert {index.name for index in original.indexes} == {index.name for index in copy.indexes}
