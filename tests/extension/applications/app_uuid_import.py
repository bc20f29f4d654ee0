"""Import and export in an application with UUIDs, a required column and no optional columns."""

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


def run(host: Flask, *args: str, exit_code: int = 0) -> str:
    result = host.test_cli_runner().invoke(args=["accounts", *args])
    assert result.exit_code == exit_code, result.output
    return str(result.stdout)


def import_accounts(host: Flask, *lines: dict[str, Any], exit_code: int = 0) -> dict[str, Any]:
    Path("file").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    output = run(host, "import", "file", exit_code=exit_code)
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def test_imported_accounts_have_the_models_defaults(host: Flask) -> None:
    result = import_accounts(
        host, {"id": ADA, "email": "ada@example.com"}, {"email": "bob@example.com"}
    )
    assert result["imported"] == 2
    with host.app_context():
        found = dict(db.session.execute(select(Account.id, Account.greeting)).all())
        assert found[UUID(ADA)] == "Hello, ada@example.com"
        assert "Hello, bob@example.com" in found.values()


def test_import_replaces_other_ids_and_reports_them(host: Flask) -> None:
    assert import_accounts(host, {"id": 7, "email": "ada@example.com"})["new_ids"] == 1
    with open("file.report.csv", newline="") as file, host.app_context():
        row = next(csv.DictReader(file))
        assert (UUID(row["id"]), row["reason"]) == (
            db.session.scalar(select(Account.id)),
            "The id was 7.",
        )


def test_unverified_email_without_a_column_for_it_is_rejected(host: Flask) -> None:
    unverified = {"email": "ada@example.com", "email_verified": False}
    assert import_accounts(host, unverified, exit_code=3)["refused"] == 1
    with open("file.report.csv", newline="") as file:
        assert [row["code"] for row in csv.DictReader(file)] == ["unverified"]


def test_export_can_be_imported_again(host: Flask) -> None:
    ada = {"id": ADA, "email": "ada@example.com", "last_login_date": "2024-01-01"}
    team = [{"slug": "acme", "name": "Acme", "type": "owner"}]
    person = [{"issuer": "https://id.example.com", "subject": "ada"}]
    import_accounts(
        host, {**ada, "workspaces": team, "identities": person, "profile": {"city": "Ayr"}}
    )
    run(host, "export", "before")
    with host.app_context():
        db.session.delete(db.session.get(Account, UUID(ADA)))
        db.session.commit()
    run(host, "import", "before")
    run(host, "export", "after")
    assert Path("after").read_bytes() == Path("before").read_bytes()
    assert b"acme" in Path("after").read_bytes()
