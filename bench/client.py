"""An HTTP client for single requests."""

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from bench.places import HOST


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    seconds: float


class Client:
    def __init__(self, port: int, timeout: float = 120) -> None:
        self.port = port
        self.timeout = timeout

    def ask(
        self, method: str, path: str, header: str = "", body: object = None, form: str = ""
    ) -> Answer:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=self.timeout)
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if header:
            name, _, value = header.partition(": ")
            headers[name] = value
        payload = form or (None if body is None else json.dumps(body))
        begin = time.perf_counter()
        connection.request(method, path, payload, headers)
        response = connection.getresponse()
        content = response.read()
        seconds = time.perf_counter() - begin
        connection.close()
        return Answer(response.status, _parsed(content), seconds)

    def expect(
        self, status: int, method: str, path: str, header: str = "", body: object = None
    ) -> Answer:
        answer = self.ask(method, path, header, body)
        if answer.status != status:
            raise RuntimeError(f"{method} {path}: {answer.status} {str(answer.body)[:300]}")
        return answer

    def login(self, email: str, password: str) -> str:
        form = urlencode({"username": email, "password": password})
        answer = self.ask("POST", "/api/v1/login", form=form)
        if answer.status != 200:
            raise RuntimeError(f"login: {answer.status} {str(answer.body)[:300]}")
        token: str = answer.body["access_token"]
        return token


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
