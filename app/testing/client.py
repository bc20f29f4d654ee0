"""A test client that checks the status of each response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse


@dataclass
class Answer:
    response: TestResponse

    @property
    def json(self) -> Any:
        return self.response.get_json(force=True)

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def headers(self) -> Any:
        return self.response.headers

    @property
    def detail(self) -> str:
        return str(self.json["detail"])

    @property
    def faults(self) -> list[str]:
        """Return the location and field of each invalid value of a 422, joined by a colon."""
        return [f"{fault['location']}:{fault['field']}" for fault in self.json.get("errors", [])]


class Api:
    """Sends requests under a prefix, with a bearer token."""

    def __init__(self, app: Flask, prefix: str = "/api/v1", token: str | None = None) -> None:
        self.app = app
        self.prefix = prefix
        self.token = token
        self.client = app.test_client()

    def as_token(self, token: str | None) -> Api:
        return Api(self.app, self.prefix, token)

    def get(self, path: str, status: int = 200, **request: object) -> Answer:
        return self.send("GET", path, status, **request)

    def post(self, path: str, status: int = 200, **request: object) -> Answer:
        return self.send("POST", path, status, **request)

    def put(self, path: str, status: int = 200, **request: object) -> Answer:
        return self.send("PUT", path, status, **request)

    def patch(self, path: str, status: int = 200, **request: object) -> Answer:
        return self.send("PATCH", path, status, **request)

    def delete(self, path: str, status: int = 200, **request: object) -> Answer:
        return self.send("DELETE", path, status, **request)

    def send(self, method: str, path: str, status: int, **request: Any) -> Answer:
        headers = dict(request.pop("headers", None) or {})
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        response = self.client.open(self.prefix + path, method=method, headers=headers, **request)
        if response.status_code != status:
            text = response.get_data(as_text=True)[:500]
            raise AssertionError(
                f"{method} {path}: expected {status}, got {response.status_code}: {text}"
            )
        return Answer(response)
