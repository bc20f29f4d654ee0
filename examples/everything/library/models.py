from __future__ import annotations

import flask_frontdesk
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


# [model]
class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


class Account(flask_frontdesk.AccountMixin, Base):
    # The library does not store when its readers sign in.
    last_login_date = None

    card: Mapped[str | None] = mapped_column(String(20), unique=True)
    nickname: Mapped[str | None] = mapped_column(String(50))
    visits: Mapped[list[Visit]] = relationship(order_by="Visit.id", passive_deletes=True)


class Visit(Base):
    __tablename__ = "visit"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    note: Mapped[str] = mapped_column(String(200))


# [end]
