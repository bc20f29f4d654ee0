"""Account models that do not meet the requirements: each error is one sentence."""

from __future__ import annotations

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app import AccountMixin, Frontdesk, SetupError

host = Flask("host")
host.config.update(SQLALCHEMY_DATABASE_URI="sqlite://", SQLALCHEMY_BINDS={"other": "sqlite://"})
db = SQLAlchemy(host)


class Loose(db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "loose_accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]


class Computed(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "computed"

    @property
    def status(self) -> str:  # type: ignore[override]
        return "active"


class Misnamed(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "misnamed"

    id: Mapped[int] = mapped_column(unique=True)
    uid: Mapped[int] = mapped_column(primary_key=True)


class Bound(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __bind_key__ = "other"


class Account(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    pass


class Twofold(AccountMixin, db.Model):  # type: ignore[misc, name-defined]
    __tablename__ = "twofold"
    __table_args__ = ()

    tenant: Mapped[int] = mapped_column(primary_key=True)


class Chosen(db.Model):  # type: ignore[misc, name-defined]
    """A model that is mapped to a query instead of a table."""

    __table__ = select(*Account.__table__.columns).subquery("chosen")
    __mapper_args__ = {"primary_key": [__table__.c.id]}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Loose, "Loose lacks password_hash, status, role, phone"),
        (Loose, r'password_hash = synonym\("…"\)'),
        (Loose, r"logged_out_at: Mapped\[datetime \| None\] = mapped_column"),
        (Computed, "Computed.status is a property, which a query cannot select"),
        (Misnamed, r'Misnamed.id is not its primary key.*add id = synonym\("uid"\)'),
        (Chosen, "Chosen is not stored in one table"),
        (Bound, "Bound is in another metadata.*no __bind_key__"),
        (Twofold, "Twofold has a primary key of several columns"),
    ],
)
def test_unsuitable_account_model_is_rejected_with_the_reason(model: type, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        Frontdesk().init_app(host, db, account_model=model)
