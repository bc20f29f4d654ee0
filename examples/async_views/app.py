"""An application with async views: a pinboard that requests the titles of links concurrently."""

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
    links: Mapped[str] = mapped_column(String(2000), default="")


frontdesk = flask_frontdesk.Frontdesk[Account]()


class Links(Schema):
    links = fields.List(
        fields.Url(schemes={"https"}, validate=validate.Length(max=90)),
        required=True,
        validate=validate.Length(max=20),
    )


class Preview(Schema):
    link = fields.String(required=True)
    title = fields.String(required=True)


async def preview(link: str) -> dict[str, Any]:
    await asyncio.sleep(0.05)  # replaces a request to the page
    return {"link": link, "title": link.removeprefix("https://")}


def create_app(database_url: str = "sqlite:///pinboard.db") -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    frontdesk.init_app(app, db, account_model=Account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")

    # [read]
    @app.get("/links")
    @active_account_required
    @answers(200, Preview, many=True)
    async def list_links() -> list[dict[str, Any]]:
        """List the pinned links with the titles of their pages"""
        links = frontdesk.current_account.links.split()
        return await asyncio.gather(*map(preview, links))

    # [end]

    # [write]
    @app.put("/links")
    @active_account_required
    @takes(json=Links)
    @answers(200, Preview, many=True)
    async def pin_links(json: dict[str, Any]) -> list[dict[str, Any]]:
        """Pin links"""
        previews = await asyncio.gather(*map(preview, json["links"]))
        # After the last await: a waiting transaction would hold its locks.
        with frontdesk.transaction():
            frontdesk.current_account.links = " ".join(json["links"])
        return previews

    # [end]

    with app.app_context():
        db.create_all()
    return app
