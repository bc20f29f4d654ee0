"""Account models that do not fit, each told in one sentence."""

from __future__ import annotations

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Base, Frontdesk, SetupError

host = Flask("host")
host.config.update(SQLALCHEMY_DATABASE_URI="sqlite://", SQLALCHEMY_BINDS={"other": "sqlite://"})
db = SQLAlchemy(host, model_class=Base)


class Loose(db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "loose_accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]


class Elsewhere(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "members"


class Bound(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __bind_key__ = "other"


class Worded(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    id: Mapped[str] = mapped_column(String(36), primary_key=True)  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Loose, "Loose lacks password_hash, status, role, phone"),
        (Elsewhere, "Elsewhere is kept in 'members'.*set __tablename__ = \"accounts\""),
        (Bound, "Bound is in another metadata.*no __bind_key__"),
        (Worded, r"Worded has an id of type VARCHAR\(36\)"),
    ],
)
def test_an_account_model_that_does_not_fit(model: type, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        Frontdesk().init_app(host, db, account_model=model)
