from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.process.logging import JsonLines, OneLine
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.cases import for_each


@pytest.fixture(autouse=True)
def _root_logger_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def failing(app: Flask) -> Api:
    """Return the service with a route that logs and then fails."""

    @app.get("/fail")
    def fail() -> str:
        logging.getLogger("app.test").warning("before the failure")
        raise ValueError("inner\nFAKE 2026 line")

    return Api(app, "")


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_production_logs_json_with_the_request_id(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    api = failing(make_app(CORE__LOG_LEVEL="INFO"))
    capsys.readouterr()
    answer = api.get("/fail", 500, headers={"X-Request-ID": "call-7"})
    warned, failed = lines(capsys)
    assert answer.headers["X-Request-ID"] == "call-7"
    assert {warned["request_id"], failed["request_id"]} == {"call-7"}
    assert (warned["level"], warned["message"]) == ("WARNING", "before the failure")
    assert failed["message"] == "Unhandled ValueError on /fail"
    assert "ValueError: inner" in failed["exception"]
    assert warned["time"].endswith("+00:00")


def test_development_logs_readable_lines(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASK_DEBUG", "1")
    api = failing(make_app(CORE__LOG_LEVEL="INFO"))
    capsys.readouterr()
    api.get("/fail?token=hunter2", 500, headers={"X-Request-ID": "call-7"})
    logged = capsys.readouterr().err
    assert " WARNING app.test [call-7] before the failure\n" in logged
    assert " INFO    app.core.process.logging [call-7] GET /fail 500, " in logged
    assert "hunter2" not in logged


def test_client_cannot_forge_a_log_line(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASK_DEBUG", "1")
    api = failing(make_app(CORE__LOG_LEVEL="INFO"))
    capsys.readouterr()
    api.get("/x%0a2026-01-01 ERROR%0d%1b[31m%c2%85%e2%80%a8end", 404)
    api.get("/fail", 500)
    logged = capsys.readouterr().err
    assert "GET /x\\n2026-01-01 ERROR\\r\\x1b[31m\\x85\\u2028end 404" in logged
    assert [line for line in logged.splitlines() if line.startswith("FAKE")] == []


@pytest.mark.parametrize("formatter", [JsonLines(), OneLine("%(message)s")])
def test_no_character_breaks_a_log_line(formatter: logging.Formatter) -> None:
    record = logging.makeLogRecord({"msg": "a\ud800\0\x1b\u2028\nb", "levelname": "INFO"})
    line = formatter.format(record)
    assert len(line.splitlines()) == 1
    line.encode()


@for_each("sent", ["", "a b", "x" * 129, "é", "a\tb", "<script>"])
def test_invalid_request_id_is_replaced(api: Api, sent: str) -> None:
    answered = api.get("/health", headers={"X-Request-ID": sent}).headers["X-Request-ID"]
    assert answered != sent
    assert re.fullmatch("[0-9a-f-]{10,40}", answered)


def test_valid_request_id_is_returned_with_errors(api: Api) -> None:
    sent = {"X-Request-ID": "a.B_c-1"}
    assert api.get("/health", headers=sent).headers["X-Request-ID"] == "a.B_c-1"
    assert api.get("/nowhere", 404, headers=sent).headers["X-Request-ID"] == "a.B_c-1"
    assert api.send("PUT", "/health", 405, headers=sent).headers["X-Request-ID"] == "a.B_c-1"


def test_failed_statement_is_logged_without_its_values(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app()
    bound = {"x": "hunter2"}

    @app.get("/secret")
    def secret() -> str:
        db = app.extensions["sqlalchemy"]
        db.session.execute(text("SELECT nothing FROM nowhere WHERE x = :x"), bound)
        return ""

    response = app.test_client().get("/secret", headers={"Authorization": "Bearer hunter3"})
    logged = capsys.readouterr().err
    assert response.status_code == 500
    assert "nowhere" in logged
    assert "hunter" not in logged


def test_development_server_logs_no_request_lines(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    make_app(CORE__LOG_LEVEL="INFO")
    server = logging.getLogger("werkzeug")
    server.setLevel(logging.INFO)
    server.info('127.0.0.1 - - "%s" %s %s', "GET /?token=hunter2 HTTP/1.1", 200, "-")
    server.info("\x1b[33mPress CTRL+C to quit\x1b[0m")
    logged = capsys.readouterr().err
    assert "hunter2" not in logged
    assert '"message":"Press CTRL+C to quit"' in logged
