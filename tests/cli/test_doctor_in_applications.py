"""The doctor in applications with their migrations, or without migrations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String, func
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Frontdesk
from app.accounts.account import Account
from app.blueprints import auth

from ..rigs.hosts import HostSettings, plain_app


@pytest.fixture
def host(tmp_path: Path) -> Flask:
    host, db = plain_app(f"sqlite:///{tmp_path / 'host.db'}")
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)
    host.register_blueprint(auth)
    return host


def migration_errors(host: Flask) -> list[str]:
    result = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    findings = json.loads(result.stdout.splitlines()[-1])["findings"]
    return [finding["message"] for finding in findings if finding["check"] == "migrations"]


def change(host: Flask, statement: str) -> None:
    with host.app_context():
        host.extensions["sqlalchemy"].session.connection().exec_driver_sql(statement)
        host.extensions["sqlalchemy"].session.commit()


def test_tables_without_migrations_are_no_error(host: Flask) -> None:
    with host.app_context():
        host.extensions["sqlalchemy"].create_all()
    assert migration_errors(host) == []


def test_missing_columns_and_tables_are_named(host: Flask) -> None:
    with host.app_context():
        host.extensions["sqlalchemy"].create_all()
    change(host, "ALTER TABLE accounts DROP COLUMN logged_out_at")
    change(host, "DROP TABLE frontdesk_keystore_entries")
    (message,) = migration_errors(host)
    missing = "accounts.logged_out_at, frontdesk_keystore_entries"
    assert message.startswith(f"The database lacks {missing}. Run")


def test_pending_migrations_of_frontdesk_are_named(host: Flask) -> None:
    with host.app_context():
        host.extensions["sqlalchemy"].create_all()
    change(host, "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    change(host, "INSERT INTO alembic_version VALUES ('0031_shared_broadcasts'), ('of_the_host')")
    (message,) = migration_errors(host)
    pending = "0032_removed_features, 0033_notifications, 0034_tokens, 0035_identity_providers"
    assert message.startswith(f"Migrations are pending: {pending}.")
    assert message.endswith("Run `flask db upgrade heads`.")


def test_missing_index_on_lower_email_is_named(tmp_path: Path) -> None:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{tmp_path / 'host.db'}"
    db = SQLAlchemy(host)

    class User(AccountMixin, db.Model):  # type: ignore[name-defined, misc]
        __tablename__ = "users"
        address: Mapped[str] = mapped_column("mail", String(255), unique=True)

        @hybrid_property
        def email(self) -> str:
            return self.address.lower()

        @email.inplace.setter
        def _set_email(self, email: str) -> None:
            self.address = email

        @email.inplace.expression
        @classmethod
        def _email(cls) -> Any:
            return func.lower(cls.address)

    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=User)
    with host.app_context():
        db.create_all()
    [message] = email_index_warnings(host)
    assert "users has no index on lower(email)" in message
    change(host, "CREATE UNIQUE INDEX ix_users_lower_email ON users (lower(mail))")
    assert email_index_warnings(host) == []


def email_index_warnings(host: Flask) -> list[str]:
    result = host.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    findings = json.loads(result.stdout.splitlines()[-1])["findings"]
    return [finding["message"] for finding in findings if finding["check"] == "accounts"]
