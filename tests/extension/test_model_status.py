"""A model that cannot store every status is rejected at the start, before it locks accounts out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Enum, String, case, func
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app import AccountMixin, Frontdesk
from app.core.errors import SetupError

from ..rigs.hosts import HostSettings


def init_app(make_model: Callable[[Any], type[Any]]) -> None:
    class Base(DeclarativeBase):
        pass

    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host, model_class=Base)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=make_model(db))


def two_states(db: Any) -> type[Any]:
    class Member(AccountMixin, db.Model):  # type: ignore[misc]
        __tablename__ = "members"

        active: Mapped[bool] = mapped_column(default=True)

        @hybrid_property
        def status(self) -> str:
            return "active" if self.active else "inactive"

        @status.inplace.setter
        def _set_status(self, status: str) -> None:
            self.active = status == "active"

        @status.inplace.expression
        @classmethod
        def _status(cls) -> Any:
            return case((cls.active, "active"), else_="inactive")

    return Member


def two_words(db: Any) -> type[Any]:
    class Member(AccountMixin, db.Model):  # type: ignore[misc]
        __tablename__ = "members"

        status: Mapped[str] = mapped_column(Enum("active", "inactive"), default="active")

    return Member


def two_columns(db: Any) -> type[Any]:
    class Member(AccountMixin, db.Model):  # type: ignore[misc]
        __tablename__ = "members"

        active: Mapped[bool] = mapped_column(default=True)
        other_status: Mapped[str | None] = mapped_column(String(50))

        @hybrid_property
        def status(self) -> str:
            return "active" if self.active else self.other_status or "inactive"

        @status.inplace.setter
        def _set_status(self, status: str) -> None:
            self.active = status == "active"
            self.other_status = None if self.active else status

        @status.inplace.expression
        @classmethod
        def _status(cls) -> Any:
            return case((cls.active, "active"), else_=func.coalesce(cls.other_status, "inactive"))

    return Member


@pytest.mark.parametrize("make_model", [two_states, two_words])
def test_model_that_loses_a_status_is_rejected_with_the_fix(make_model: Any) -> None:
    with pytest.raises(SetupError) as error:
        init_app(make_model)
    assert str(error.value).startswith(
        "Member.status does not return what Frontdesk writes to it: pending, deleting, suspended."
    )
    assert "other_status: Mapped[str | None] = mapped_column(String(50))" in str(error.value)


def test_model_that_stores_every_status_is_accepted() -> None:
    init_app(two_columns)
