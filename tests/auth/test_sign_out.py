"""Sign-out is stored in the account's row; no request reads the shared state store for it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.keystore import Keystore, KeystoreUnavailable
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import MakeApp, Person
from .test_login import log_in

METHODS = [name for name in vars(Keystore) if not name.startswith("_")]


def record_calls(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    for name in METHODS:
        monkeypatch.setattr(
            app.extensions["frontdesk"].keystore, name, lambda *_, name=name: calls.append(name)
        )
    return calls


def make_unavailable(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise KeystoreUnavailable

    for name in METHODS:
        monkeypatch.setattr(app.extensions["frontdesk"].keystore, name, refuse)


def test_reading_the_account_needs_one_query_and_no_state_store(
    app: Flask, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = ada.api()
    calls = record_calls(app, monkeypatch)
    with noted_queries(app) as queries:
        api.get("/account")
    assert (len(queries), calls) == (1, [])


def test_sign_in_at_one_server_ends_the_sign_out_at_another(make_app: MakeApp, ada: Person) -> None:
    first, second = (make_app(CORE__KEYSTORE="memory") for _ in range(2))
    token = log_in(Api(first), ada.email, ada.password).json["access_token"]
    Api(first, token=token).delete("/logout")
    Api(second, token=token).get("/account", 401)
    token = log_in(Api(second), ada.email, ada.password).json["access_token"]
    for app in (first, second):
        Api(app, token=token).get("/account")


def test_state_store_shows_the_sign_out_to_other_programs(app: Flask, ada: Person) -> None:
    keystore, key = app.extensions["frontdesk"].keystore, f"revoked:{ada.email}"
    ada.api().delete("/logout")
    assert keystore.get(key) == str(ada.id)
    assert keystore.remaining(key) >= 30 * 60
    ada.api()
    assert keystore.get(key) is None


def test_reads_and_sign_out_work_without_a_state_store(
    app: Flask, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = ada.api()
    with monkeypatch.context() as patch:
        make_unavailable(app, patch)
        api.get("/account")
        assert api.delete("/logout").json == {"message": "Logged out"}
        assert api.get("/account", 401).detail == "Token expired"
        answer = log_in(Api(app), ada.email, ada.password, 503)
        assert answer.json["code"] == "keystore_unavailable"
    ada.api().get("/account")


def test_sign_in_succeeds_if_the_state_store_entry_cannot_be_removed(
    app: Flask, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.api().delete("/logout")

    def refuse(*_: str) -> None:
        raise KeystoreUnavailable

    monkeypatch.setattr(app.extensions["frontdesk"].keystore, "drop", refuse)
    ada.api().get("/account")
