"""Logging: text in development and JSON in production, with the id of the request in each line.

Only the service configures logging. An application configures its own, and can use `RequestId`.
"""

from __future__ import annotations

import logging
import logging.config
import re
import time
from datetime import UTC, datetime
from typing import Literal

import orjson
from flask import Flask, Response, g, has_request_context, request

from ..request import request_id
from ..types import JsonObject

log = logging.getLogger(__name__)

# Characters that break a line or control a terminal.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_COLOR = re.compile("\x1b\\[[0-9;]*m")


class RequestId(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id() if has_request_context() else "-"
        return True


class DevelopmentServer(logging.Filter):
    """Drops werkzeug's line for each request, which may contain a token, and removes colors."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno == logging.INFO and record.args:
            return False
        record.msg = _COLOR.sub("", str(record.msg)).replace("\n", "")
        return True


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # Fields of the security log; the JSON format shows them next to the message.
        fields: JsonObject = getattr(record, "fields", {})
        line = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "logger": record.name,
            "message": _encodable(record.getMessage()) if not fields else _short(fields),
            **fields,
            "request_id": getattr(record, "request_id", "-"),
        }
        if record.exc_info:
            line["exception"] = _encodable(self.formatException(record.exc_info))
        # orjson does not escape some of Unicode's line breaks.
        return _CONTROL.sub(_escaped_for_json, orjson.dumps(line, default=str).decode())


class OneLine(logging.Formatter):
    """Escape line breaks: text from a client must not look like a separate log line."""

    def format(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        lines = [self.formatMessage(record)]
        if record.exc_info:
            lines += self.formatException(record.exc_info).split("\n")
        return "\n    ".join(_CONTROL.sub(_escaped, line) for line in lines)


def log_requests(app: Flask) -> None:
    """Log each request in development; in production the proxy does that."""

    @app.before_request
    def start() -> None:
        g.frontdesk_started = time.perf_counter()

    @app.after_request
    def log_response(response: Response) -> Response:
        took = (time.perf_counter() - g.get("frontdesk_started", time.perf_counter())) * 1000
        log.info("%s %s %d, %.0f ms", request.method, request.path, response.status_code, took)
        return response


def configure_logging(form: Literal["text", "json"], level: str) -> None:
    text = "%(asctime)s %(levelname)-7s %(name)s [%(request_id)s] %(message)s"
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {
                "request_id": {"()": RequestId},
                "development_server": {"()": DevelopmentServer},
            },
            "formatters": {"text": {"()": OneLine, "format": text}, "json": {"()": JsonLines}},
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "formatter": form,
                    "filters": ["request_id"],
                }
            },
            "loggers": {"werkzeug": {"filters": ["development_server"]}},
            "root": {"handlers": ["stderr"], "level": level},
        }
    )


def logs_json() -> bool:
    handlers = logging.getLogger().handlers
    return any(isinstance(handler.formatter, JsonLines) for handler in handlers)


def _short(fields: JsonObject) -> str:
    return f"{fields['event']} {fields['outcome']}"


def _encodable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _escaped(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _escaped_for_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
