"""The database and the account model of the pinboard."""

from __future__ import annotations

import flask_frontdesk
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


# [base]
class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)
# [end]


# [account]
class Account(flask_frontdesk.AccountMixin, Base):
    name: Mapped[str] = mapped_column(String(100), default="", server_default="")


# [end]
