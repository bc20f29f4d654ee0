"""Errors of a database driver are the server's: only races that no validation prevents are 4xx."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.testing.client import Api

from ..conftest import MakeApp, only_on

# What another client's statement of the same name gives, and what values out of range do.
DRIVER_ERRORS = (
    "SELECT 'x'::integer",
    "SELECT 2147483647::integer + 1::integer",
    "SELECT 1 / 0",
    "SELECT 'x'::timestamptz",
    "SELECT nothing()",
    "SELECT 1 FROM",
    "EXECUTE nothing",
    "INSERT INTO accounts (email) VALUES (NULL)",
    "INSERT INTO accounts (role) VALUES (repeat('x', 1000))",
    "DO $$ BEGIN RAISE invalid_parameter_value; END $$",
)


INBOX_ITEM = (
    "INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)"
    " VALUES (987654321, 987654321, '0')"
)
ACCOUNT = (
    "INSERT INTO accounts (email, status, role, created_at)"
    " VALUES ('driver@example.com', 'active', 'user', '2026-01-01 00:00:00')"
)


def failing(app: Flask, *statements: str, **values: Any) -> Api:
    app.testing = False

    def fail() -> str:
        session = app.extensions["sqlalchemy"].session
        for statement in statements:
            session.execute(text(statement), values)
        return "unreachable"

    app.add_url_rule("/fail", "fail", fail, methods=["GET", "POST"])
    return Api(app, "")


@only_on("postgresql")
@pytest.mark.parametrize("statement", DRIVER_ERRORS)
def test_driver_error_is_never_a_4xx(make_app: MakeApp, statement: str) -> None:
    api = failing(make_app(), statement)
    assert api.get("/fail", 500).json["code"] == "internal_error"
    assert api.post("/fail", 500).json["code"] == "internal_error"


@only_on("postgresql")
def test_value_that_the_driver_cannot_send_is_never_a_4xx(make_app: MakeApp) -> None:
    api = failing(make_app(), "SELECT :value", value="a\0b")
    api.get("/fail", 500)
    api.post("/fail", 500)


@pytest.mark.parametrize("statements", [(ACCOUNT, ACCOUNT), (INBOX_ITEM,)])
def test_race_is_a_conflict_only_for_writes(make_app: MakeApp, statements: tuple[str, ...]) -> None:
    """Another request stored the same row, or deleted the row that this one refers to."""
    api = failing(make_app(), *statements)
    api.post("/fail", 409)
    api.get("/fail", 500)


def test_missing_value_is_not_a_conflict(make_app: MakeApp) -> None:
    api = failing(make_app(), "INSERT INTO accounts (email) VALUES ('driver@example.com')")
    api.post("/fail", 500)
