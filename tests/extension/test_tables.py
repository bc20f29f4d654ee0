"""Frontdesk's tables in the metadata of an application, which can use any names for its classes and
tables."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, inspect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from app import AccountMixin, Frontdesk, SetupError, blueprints
from app.testing.client import Api
from app.testing.people import make_person

from ..rigs.hosts import HostSettings

FRONTDESK_TABLES = {
    "frontdesk_account_deletions",
    "frontdesk_account_notes",
    "frontdesk_broadcast_drafts",
    "frontdesk_deliveries",
    "frontdesk_email_changes",
    "frontdesk_events",
    "frontdesk_expansions",
    "frontdesk_exports",
    "frontdesk_identities",
    "frontdesk_inbox",
    "frontdesk_installation",
    "frontdesk_invitations",
    "frontdesk_keystore_entries",
    "frontdesk_notification_keys",
    "frontdesk_notifications",
    "frontdesk_outgoing_messages",
    "frontdesk_profiles",
    "frontdesk_segments",
    "frontdesk_workspace_members",
    "frontdesk_workspaces",
}


def host_at(db: SQLAlchemy, account_model: Any, *, tasks: bool = False) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db.init_app(host)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=account_model)
    host.register_blueprint(blueprints.auth, url_prefix="/in")
    host.register_blueprint(blueprints.profiles, url_prefix="/in/profiles")
    if tasks:
        host.register_blueprint(blueprints.tasks, url_prefix="/in/tasks")
    with host.app_context():
        db.create_all()
    return host


def account_of(db: SQLAlchemy, table: str = "accounts") -> Any:
    return type("Account", (AccountMixin, db.Model), {"__tablename__": table})


def tables_in(host: Flask) -> set[str]:
    with host.app_context():
        return set(inspect(host.extensions["sqlalchemy"].engine).get_table_names())


def test_default_database_object_is_supported() -> None:
    db = SQLAlchemy()
    host = host_at(db, account_of(db))
    assert tables_in(host) == FRONTDESK_TABLES | {"accounts"}
    assert make_person(host, "ada").api().get("/in/account").json["email"] == "ada@example.com"


def test_account_table_can_have_any_name() -> None:
    db = SQLAlchemy()
    host = host_at(db, account_of(db, "user"))
    assert tables_in(host) == FRONTDESK_TABLES | {"user"}
    [key] = db.metadata.tables["frontdesk_profiles"].foreign_keys
    assert key.target_fullname == "user.id"
    make_person(host, "ada").api().get("/in/account")


def test_application_can_use_frontdesks_class_names() -> None:
    db = SQLAlchemy()

    class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
        profile: Mapped[Profile] = relationship("Profile")

    class Profile(db.Model):  # type: ignore[misc, name-defined]
        __tablename__ = "profiles"

        account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
        motto: Mapped[str]

    class Notification(db.Model):  # type: ignore[misc, name-defined]
        __tablename__ = "notifications"

        id: Mapped[int] = mapped_column(primary_key=True)

    host = host_at(db, Account)
    ada = make_person(host, "ada")
    with host.app_context():
        account = db.session.get_one(Account, ada.id)
        account.profile = Profile(motto="onwards")
        db.session.commit()
    ada.api().get("/in/profiles", 404)


def test_two_applications_have_separate_tables() -> None:
    first, second = SQLAlchemy(), SQLAlchemy()
    hosts = [host_at(first, account_of(first, "readers")), host_at(second, account_of(second))]
    for host in hosts:
        make_person(host, "ada").api().get("/in/account")
    assert "readers" not in second.metadata.tables
    assert "readers" not in tables_in(hosts[1])


def test_tasks_table_exists_only_where_tasks_are_mounted() -> None:
    db, other = SQLAlchemy(), SQLAlchemy()
    host = host_at(db, account_of(db), tasks=True)
    Api(host, "/in").post("/tasks/", 201, json={"title": "x"})
    assert "frontdesk_tasks" not in tables_in(host_at(other, account_of(other)))


def test_application_without_accounts_has_frontdesks_tables() -> None:
    assert tables_in(host_without_accounts()) == FRONTDESK_TABLES


def host_without_accounts() -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host)
    Frontdesk().init_app(host, db, settings=HostSettings())
    with host.app_context():
        db.create_all()
    return host


def test_schema_of_the_application_does_not_apply_to_frontdesks_tables() -> None:
    class Base(DeclarativeBase):
        metadata = MetaData(schema="shop")

    db = SQLAlchemy(model_class=Base)
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db.init_app(host)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=account_of(db))
    assert set(db.metadata.tables) == FRONTDESK_TABLES | {"shop.accounts"}
    [key] = db.metadata.tables["frontdesk_profiles"].foreign_keys
    assert key.target_fullname == "shop.accounts.id"


def test_one_metadata_has_one_account_model() -> None:
    db = SQLAlchemy()
    host_at(db, account_of(db))
    other = type("Reader", (AccountMixin, db.Model), {"__tablename__": "readers"})
    with pytest.raises(SetupError, match="refer to accounts in 'accounts' already"):
        host_at(db, other)


def test_table_with_the_name_of_a_frontdesk_table_is_rejected() -> None:
    db = SQLAlchemy()
    Table("frontdesk_inbox", db.metadata, Column("id", Integer))
    with pytest.raises(SetupError, match="both have a table 'frontdesk_inbox'"):
        host_at(db, account_of(db))
