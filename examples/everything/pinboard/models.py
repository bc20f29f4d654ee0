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
    # The pinboard does not store when its users sign in.
    last_login_date = None

    handle: Mapped[str | None] = mapped_column(String(20), unique=True)
    name: Mapped[str | None] = mapped_column(String(50))
    activities: Mapped[list[Activity]] = relationship(order_by="Activity.id", passive_deletes=True)


class Activity(Base):
    __tablename__ = "activities"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(String(200))


# [end]
