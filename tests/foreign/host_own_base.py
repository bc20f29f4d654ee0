"""A host with a declarative base and a naming convention of its own."""

from __future__ import annotations

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

import app as flask_frontdesk
from app.testing.people import make_person

from ..hosts import HostSettings

# [base]
flask_frontdesk.Base.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "%(table_name)s_%(column_0_name)s_key",
}


class Base(DeclarativeBase):
    metadata = flask_frontdesk.Base.metadata


db = SQLAlchemy(model_class=Base)
# [end]


class Shelf(db.Model):  # type: ignore[misc, name-defined]
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)


class Account(flask_frontdesk.AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    shelf_id: Mapped[int | None]


def host_with(db: SQLAlchemy) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db.init_app(host)
    frontdesk = flask_frontdesk.Frontdesk()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account)
    host.register_blueprint(flask_frontdesk.auth)
    with host.app_context():
        db.create_all()
    return host


def test_it_signs_in() -> None:
    make_person(host_with(db), "ada").api().get("/account")


def test_a_database_object_of_the_older_kind_does_too() -> None:
    older = SQLAlchemy(metadata=flask_frontdesk.Base.metadata)
    make_person(host_with(older), "ada").api().get("/account")


def test_the_convention_is_for_the_hosts_tables_alone() -> None:
    host_with(db)
    tables = db.metadata.tables
    assert {key.name for key in tables["shelf"].constraints} == {None, "shelf_name_key"}
    assert "uq_profiles_account_id" in {key.name for key in tables["profiles"].constraints}
