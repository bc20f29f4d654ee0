"""A test client that checks the status of each response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse


@dataclass
class Answer:
    """A response, with its content for assertions.

    Attributes:
        response: The response of Flask's test client.
    """

    response: TestResponse

    @property
    def json(self) -> Any:
        """The JSON of the body."""
        return self.response.get_json(force=True)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.response.status_code

    @property
    def headers(self) -> Any:
        """The headers."""
        return self.response.headers

    @property
    def detail(self) -> str:
        """The `detail` of a problem document."""
        return str(self.json["detail"])

    @property
    def faults(self) -> list[str]:
        """The location and field of each invalid value of a 422, joined by a colon."""
        return [f"{fault['location']}:{fault['field']}" for fault in self.json.get("errors", [])]


class Api:
    """A test client that sends a token, and checks the status of each response.

    Args:
        app: The application.
        prefix: Prefix of all paths.
        token: Access token; None for anonymous requests.

    Example::

        Api(app, "/api").get("/hello", 401)
    """

    def __init__(self, app: Flask, prefix: str = "/api/v1", token: str | None = None) -> None:
        self.app = app
        self.prefix = prefix
        self.token = token
        self.client = app.test_client()

    def as_token(self, token: str | None) -> Api:
        """Return a client that sends another token.

        Args:
            token: Access token; None for anonymous requests.

        Returns:
            The client.

        Example::

            frontdesk.api().as_token("invalid").get("/hello", 401)
        """
        return Api(self.app, self.prefix, token)

    def get(self, path: str, status: int = 200, **request: object) -> Answer:
        """Send a GET request.

        Args:
            path: Path below the prefix.
            status: Expected HTTP status.
            request: Arguments of Flask's test client, such as `json`, `data` or `headers`.

        Returns:
            The response.

        Raises:
            AssertionError: The response has another status.

        Example::

            ada.api().get("/hello").json
        """
        return self.send("GET", path, status, **request)

    def post(self, path: str, status: int = 200, **request: object) -> Answer:
        """Send a POST request.

        Args:
            path: Path below the prefix.
            status: Expected HTTP status.
            request: Arguments of Flask's test client, such as `json`, `data` or `headers`.

        Returns:
            The response.

        Raises:
            AssertionError: The response has another status.

        Example::

            ada.api().post("/notes", 201, json={"text": "Milk"})
        """
        return self.send("POST", path, status, **request)

    def put(self, path: str, status: int = 200, **request: object) -> Answer:
        """Send a PUT request.

        Args:
            path: Path below the prefix.
            status: Expected HTTP status.
            request: Arguments of Flask's test client, such as `json`, `data` or `headers`.

        Returns:
            The response.

        Raises:
            AssertionError: The response has another status.

        Example::

            ada.api().put("/profile", json={"name": "Ada"})
        """
        return self.send("PUT", path, status, **request)

    def patch(self, path: str, status: int = 200, **request: object) -> Answer:
        """Send a PATCH request.

        Args:
            path: Path below the prefix.
            status: Expected HTTP status.
            request: Arguments of Flask's test client, such as `json`, `data` or `headers`.

        Returns:
            The response.

        Raises:
            AssertionError: The response has another status.

        Example::

            ada.api().patch("/notes/1", json={"text": "Tea"})
        """
        return self.send("PATCH", path, status, **request)

    def delete(self, path: str, status: int = 200, **request: object) -> Answer:
        """Send a DELETE request.

        Args:
            path: Path below the prefix.
            status: Expected HTTP status.
            request: Arguments of Flask's test client, such as `json`, `data` or `headers`.

        Returns:
            The response.

        Raises:
            AssertionError: The response has another status.

        Example::

            ada.api().delete("/notes/1")
        """
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
