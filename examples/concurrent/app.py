"""An application with async views: a watch list that requests its prices concurrently."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import flask_frontdesk
from flask import Flask
from flask_frontdesk import active_account_required, answers, blueprints, takes
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, fields, validate
from sqlalchemy import String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


class Account(flask_frontdesk.AccountMixin, Base):
    symbols: Mapped[str] = mapped_column(String(200), default="")


frontdesk = flask_frontdesk.Frontdesk[Account]()


class Watched(Schema):
    symbols = fields.List(
        fields.String(validate=validate.Regexp("^[A-Z]{1,6}$")),
        required=True,
        validate=validate.Length(max=20),
    )


class Price(Schema):
    symbol = fields.String(required=True)
    price = fields.Float(required=True)


async def price_of(symbol: str) -> dict[str, Any]:
    await asyncio.sleep(0.05)  # replaces a request to a market
    return {"symbol": symbol, "price": float(len(symbol))}


def create_app(database_url: str = "sqlite:///watched.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")

    # [read]
    @app.get("/prices")
    @active_account_required
    @answers(200, Price, many=True)
    async def prices() -> list[dict[str, Any]]:
        """List the prices of the watched items"""
        symbols = frontdesk.current_account.symbols.split()
        return await asyncio.gather(*map(price_of, symbols))

    # [end]

    # [write]
    @app.put("/watched")
    @active_account_required
    @takes(json=Watched)
    @answers(200, Price, many=True)
    async def watch(json: dict[str, Any]) -> list[dict[str, Any]]:
        """Watch an item"""
        found = await asyncio.gather(*map(price_of, json["symbols"]))
        # After the last await: a waiting transaction would hold its locks.
        with frontdesk.transaction():
            frontdesk.current_account.symbols = " ".join(json["symbols"])
        return found

    # [end]

    with app.app_context():
        db.create_all()
    return app
