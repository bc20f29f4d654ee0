"""Credentials that change between the application's `verify_password` and `sign_in` calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase

import app as flask_frontdesk
from app import Frontdesk, IncorrectCredentials
from app.testing.people import PASSWORD

from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings

NEW_PASSWORD = "a password never seen before"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/host.db"
        return
    with postgres_database(f"frontdesk_overlaps_{uuid4().hex[:8]}") as url:
        yield url


@pytest.fixture
def host(url: str) -> Iterator[tuple[Flask, Frontdesk[Any]]]:
    """Return an application with a session that expires objects on commit, as by default."""

    class Base(DeclarativeBase):
        pass

    class Account(flask_frontdesk.AccountMixin, Base):
        pass

    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    db, frontdesk = SQLAlchemy(app, model_class=Base), Frontdesk[Account]()
    frontdesk.init_app(app, db, settings=HostSettings(), account_model=Account)
    with app.app_context():
        db.create_all()
        frontdesk.accounts.create("ada@example.com", PASSWORD)
    yield app, frontdesk
    with app.app_context():
        db.engine.dispose()


def change_password(app: Flask, frontdesk: Frontdesk[Any]) -> None:
    def change() -> None:
        with app.app_context():
            account = frontdesk.accounts.get("ada@example.com")
            frontdesk.accounts.change(account, password=NEW_PASSWORD)

    thread = Thread(target=change)
    thread.start()
    thread.join()


@pytest.mark.parametrize("reads_between", [False, True])
def test_old_password_does_not_sign_in_after_a_change(
    host: tuple[Flask, Frontdesk[Any]], reads_between: bool
) -> None:
    app, frontdesk = host
    with app.test_request_context():
        account = frontdesk.verify_password("ada@example.com", PASSWORD)
        change_password(app, frontdesk)
        if reads_between:
            app.extensions["sqlalchemy"].session.refresh(account)
        with pytest.raises(IncorrectCredentials):
            frontdesk.sign_in(account, how="password")
        again = frontdesk.verify_password("ada@example.com", NEW_PASSWORD)
        assert "access_token" in frontdesk.sign_in(again, how="password")


def test_account_loaded_after_the_change_signs_in(host: tuple[Flask, Frontdesk[Any]]) -> None:
    app, frontdesk = host
    with app.test_request_context():
        frontdesk.verify_password("ada@example.com", PASSWORD)
        change_password(app, frontdesk)
        app.extensions["sqlalchemy"].session.remove()
        account = frontdesk.accounts.get("ada@example.com")
        assert "access_token" in frontdesk.sign_in(account, how="magic link")


def test_application_can_change_the_password_between_the_calls(
    host: tuple[Flask, Frontdesk[Any]],
) -> None:
    app, frontdesk = host
    with app.test_request_context():
        account = frontdesk.verify_password("ada@example.com", PASSWORD)
        frontdesk.accounts.change(account, password=NEW_PASSWORD)
        assert "access_token" in frontdesk.sign_in(account, how="password")
