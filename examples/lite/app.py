"""An application on Flask-SQLAlchemy-Lite, with models from SQLAlchemy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import Page, active_account_required, answers, blueprints, takes
from flask_sqlalchemy_lite import SQLAlchemy
from marshmallow import Schema, fields, validate
from sqlalchemy import DateTime, ForeignKey, String, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


# [model]
class Model(DeclarativeBase):
    pass


class Reader(flask_frontdesk.AccountMixin, Model):
    __tablename__ = "readers"


class Loan(Model):
    __tablename__ = "loans"

    id: Mapped[int] = mapped_column(primary_key=True)
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(200))
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True))


db = SQLAlchemy()
frontdesk = flask_frontdesk.Frontdesk[Reader]()
BORROWED = frontdesk.notification_kind("loans", name="Loans", channels=["inapp"])
# [end]


class LoanCreate(Schema):
    title = fields.String(required=True, validate=validate.Length(min=1, max=200))


class LoanRead(Schema):
    id = fields.Integer(required=True)
    title = fields.String(required=True)


def create_app(database_url: str = "sqlite:///loans.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY", "only for trying it out, at least")
    # [app]
    app.config["SQLALCHEMY_ENGINES"] = {"default": database_url}
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Reader)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    app.register_blueprint(blueprints.notifications, url_prefix="/api/inbox")
    # [end]

    @app.post("/api/loans")
    @active_account_required
    @takes(json=LoanCreate)
    @answers(201, LoanRead)
    def lend(json: dict[str, Any]) -> Loan:
        """Borrow a book"""
        reader = frontdesk.current_account
        with frontdesk.transaction():
            loan = Loan(reader_id=reader.id, title=json["title"], since=datetime.now(UTC))
            db.session.add(loan)
            frontdesk.notify(
                "Borrowed", json["title"], kind=BORROWED, url="/loans", receivers=[reader]
            )
        return loan

    @app.get("/api/loans")
    @active_account_required
    @takes(query=Page)
    @answers(200, LoanRead, paged=True)
    def loans(query: dict[str, Any]) -> Sequence[Loan]:
        """List the caller's loans"""
        mine = select(Loan).where(Loan.reader_id == frontdesk.current_account.id).order_by(Loan.id)
        return db.session.scalars(mine.offset(query["offset"]).limit(query["limit"])).all()

    with app.app_context():
        Model.metadata.create_all(db.engine)
    return app
