"""Banners in an application with its own accounts."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Uuid, inspect
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, blueprints
from app.accounts.service import Accounts
from app.banners.dismissals import export_dismissals
from app.banners.models import Banner, BannerDismissal
from app.banners.service import Banners
from app.core.context import current_frontdesk, service
from app.core.data_export import DataSubject, ExportReader

from ..rigs.hosts import HostSettings

TABLES = {"frontdesk_banners", "frontdesk_banner_dismissals"}


def host(*names: str) -> Flask:
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    db = SQLAlchemy(app)
    key = mapped_column(Uuid, primary_key=True, default=uuid4)
    members = {"__tablename__": "readers", "id": key}
    reader: Any = type("Reader", (AccountMixin, db.Model), members)
    Frontdesk().init_app(app, db, settings=HostSettings(), account_model=reader)
    for name in names:
        app.register_blueprint(getattr(blueprints, name), url_prefix="/api")
    with app.app_context():
        db.create_all()
    return app


def test_tables_exist_only_where_the_blueprint_is_mounted() -> None:
    for names, expected in ((("auth",), set()), (("auth", "banners"), TABLES)):
        app = host(*names)
        with app.app_context():
            found = {*inspect(current_frontdesk.engine).get_table_names()}
        assert found & TABLES == expected


def test_accounts_have_other_ids() -> None:
    with host("banners").app_context():
        accounts = service(Accounts)
        ada, bob = (accounts.create(f"{name}@example.com", None) for name in ("ada", "bob"))
        assert isinstance(ada.id, UUID)
        values: Any = {"audience": {"ids": [ada.id, ada.id]}, "starts_at": None}
        values |= {"text": "For Ada", "level": "info", "dismissible": True}
        created = service(Banners).create(values)
        assert created.audience == {"ids": [str(ada.id)]}
        shown = {each.email: len(service(Banners).list_for(each)) for each in (ada, bob)}
        assert shown == {ada.email: 1, bob.email: 0}
        service(Banners).dismiss(ada, created.id)
        assert service(Banners).list_for(ada) == []
        exported = {each.email: export_of(each) for each in (ada, bob)}
        assert [row["text"] for row in exported[ada.email]] == ["For Ada"]
        assert exported[bob.email] == []


def export_of(account: Any) -> list[Any]:
    names = {each.__tablename__ for each in (Banner, BannerDismissal)}
    reader = ExportReader(current_frontdesk.db.engine, names, lambda: None)
    [(_, rows)] = export_dismissals(DataSubject(account.id, account.email, account.id), reader)
    found: Any = rows
    return [*found]
