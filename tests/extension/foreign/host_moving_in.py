"""A host whose accounts have UUIDs and lack what they may lack, and who greets whoever is made."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String, event, select
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Frontdesk

ADA = "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"

db = SQLAlchemy()


class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "people"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    last_login_date = None
    email_unverified_since = None
    greeting: Mapped[str] = mapped_column(String(50))


@event.listens_for(Account, "before_insert")
def greet(_mapper: Any, _connection: Any, account: Account) -> None:
    account.greeting = f"Hello, {account.email}"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.chdir(tmp_path)
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{tmp_path}/host.db"
    app.config["SECRET_KEY"] = "the host's own secret key, long enough"
    db.init_app(app)
    Frontdesk().init_app(app, db, account_model=Account)
    with app.app_context():
        db.create_all()
    return app


def run(host: Flask, *args: str) -> str:
    result = host.test_cli_runner().invoke(args=["accounts", *args])
    assert result.exit_code == 0, result.output
    return str(result.output)


def bring_in(host: Flask, *lines: dict[str, Any]) -> dict[str, Any]:
    Path("file").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found: dict[str, Any] = json.loads(run(host, "import", "file").splitlines()[-1])
    return found


def test_imported_accounts_have_the_models_own_values(host: Flask) -> None:
    result = bring_in(host, {"id": ADA, "email": "ada@example.com"}, {"email": "bob@example.com"})
    assert result["imported"] == 2
    with host.app_context():
        found = dict(db.session.execute(select(Account.id, Account.greeting)).all())
        assert found[UUID(ADA)] == "Hello, ada@example.com"
        assert "Hello, bob@example.com" in found.values()


def test_import_replaces_foreign_ids_and_reports_them(host: Flask) -> None:
    assert bring_in(host, {"id": 7, "email": "ada@example.com"})["new_ids"] == 1
    with open("file.report.csv", newline="") as file, host.app_context():
        told = next(csv.DictReader(file))
        assert (UUID(told["id"]), told["reason"]) == (
            db.session.scalar(select(Account.id)),
            "The id was 7.",
        )


def test_an_address_that_cannot_be_marked_as_unverified_is_refused(host: Flask) -> None:
    bring_in(host, {"email": "ada@example.com", "email_verified": False})
    with open("file.report.csv", newline="") as file:
        assert [row["code"] for row in csv.DictReader(file)] == ["unverified"]


def test_an_export_can_be_imported_again(host: Flask) -> None:
    ada = {"id": ADA, "email": "ada@example.com", "last_login_date": "2024-01-01"}
    team = [{"slug": "acme", "name": "Acme", "type": "owner"}]
    person = [{"issuer": "https://id.example.com", "subject": "ada"}]
    bring_in(host, {**ada, "workspaces": team, "identities": person, "profile": {"city": "Ayr"}})
    run(host, "export", "before")
    with host.app_context():
        db.session.delete(db.session.get(Account, UUID(ADA)))
        db.session.commit()
    run(host, "import", "before")
    run(host, "export", "after")
    assert Path("after").read_bytes() == Path("before").read_bytes()
    assert b"acme" in Path("after").read_bytes()
