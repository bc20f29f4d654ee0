"""Account details that the owner can change: phone, language and time zone."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app import Frontdesk, UtcDateTime
from app.accounts.schemas import AccountRead
from app.blueprints import auth, docs
from app.testing.client import Api
from app.testing.database import noted_queries
from app.testing.people import make_person

from ..conftest import Person
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings

DETAILS = {"phone": "+442079460000", "locale": "en-GB", "time_zone": "Europe/London"}


def test_sent_details_are_changed_and_others_kept(ada: Person) -> None:
    here = ada.api()
    answer = here.patch("/account", json=DETAILS)
    assert DETAILS.items() <= answer.json.items()
    answer = here.patch("/account", json={"time_zone": None, "email": "eve@example.com"})
    assert answer.json == here.get("/account").json
    assert {**DETAILS, "time_zone": None, "email": ada.email}.items() <= answer.json.items()
    assert here.patch("/account", json={}).json == answer.json


@for_each(
    ("sent", "stored"),
    [
        ({"locale": "PT-br"}, {"locale": "pt-BR"}),
        ({"locale": "ZH-hant-tw"}, {"locale": "zh-Hant-TW"}),
        ({"locale": "de-1996"}, {"locale": "de-1996"}),
        ({"locale": "es-419"}, {"locale": "es-419"}),
        ({"time_zone": "UTC"}, {"time_zone": "UTC"}),
        ({"time_zone": "America/Argentina/Buenos_Aires"}, None),
        ({"phone": "+44 20 7946 0000"}, {"phone": "+442079460000"}),
    ],
)
def test_details_are_normalized(
    ada: Person, sent: dict[str, str], stored: dict[str, str] | None
) -> None:
    assert (stored or sent).items() <= ada.api().patch("/account", json=sent).json.items()


@for_each(
    "sent",
    [
        {"locale": "en_GB"},
        {"locale": "english"},
        {"locale": "en-"},
        {"locale": ""},
        {"locale": "e\u0301n"},
        {"locale": 7},
        {"locale": "en" + "-abcde" * 6},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": "localtime"},
        {"time_zone": "europe/london"},
        {"time_zone": ["UTC"]},
        {"phone": "four"},
        {"phone": "020 7946 0000"},
        {"phone": "\x00"},
    ],
)
def test_invalid_detail_is_a_422(ada: Person, sent: dict[str, Any]) -> None:
    here = ada.api()
    [name] = sent
    assert here.patch("/account", 422, json=sent).faults == [f"json:{name}"]


def test_change_requires_an_active_account(api: Api, ada: Person) -> None:
    api.patch("/account", 401, json=DETAILS)
    here = ada.api()
    ada.change(status="inactive")
    here.patch("/account", 401, json=DETAILS)


def test_reading_the_account_needs_one_query(app: Flask, ada: Person) -> None:
    here = ada.api()
    here.get("/account")
    with noted_queries(app) as queries:
        account = here.get("/account").json
    assert len(queries) == 1, queries
    assert list(account) == list(AccountRead().dump_fields)


class HostBase(DeclarativeBase):
    pass


class Customer(HostBase):
    """An application's account model without the language and time-zone columns."""

    __tablename__ = "customers"

    id: Mapped[str] = mapped_column(String(20), primary_key=True, default="c-1")
    email: Mapped[str] = mapped_column(String(320), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(50), default="active")
    role: Mapped[str] = mapped_column(String(50), default="user")
    phone: Mapped[str | None] = mapped_column(String(32))
    current_workspace_id: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[Any] = mapped_column(UtcDateTime)
    tokens_valid_from: Mapped[Any | None] = mapped_column(UtcDateTime)
    logged_out_at: Mapped[Any | None] = mapped_column(UtcDateTime)


@pytest.fixture
def host() -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(host, model_class=HostBase)
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Customer)
    host.register_blueprint(auth, url_prefix="/auth")
    host.register_blueprint(docs, url_prefix="/auth")
    with host.app_context():
        db.create_all()
    return host


def test_missing_columns_are_left_out(host: Flask) -> None:
    here = Api(host, "/auth", make_person(host, "ada", prefix="/auth").token())
    answer = here.patch("/account", json=DETAILS)
    assert answer.json["phone"] == DETAILS["phone"]
    assert answer.json.keys().isdisjoint({"locale", "time_zone", "email_verified"})
    assert here.get("/account").json == answer.json
    schemas = here.get("/openapi.json").json["components"]["schemas"]
    assert list(schemas["OwnAccountUpdate"]["properties"]) == ["phone"]
