"""An HTTPS client of the proxy that records each response."""

from __future__ import annotations

import http.client
import ssl
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..traffic import send
from .ledger import Entry, Ledger

# Longer than the proxy waits for a response.
TIMEOUT = 70


@dataclass
class Client:
    port: int
    ledger: Ledger
    token: str = ""
    # The client's loopback address, for the rate limits.
    address: str = "127.0.0.1"

    def ask(
        self,
        kind: str,
        method: str,
        path: str,
        json_body: Any = None,
        form: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Send a request over a new connection, and record the status and the time."""
        at = time.monotonic()
        connection = http.client.HTTPSConnection(
            "127.0.0.1",
            self.port,
            timeout=TIMEOUT,
            source_address=(self.address, 0),
            context=_context(),
        )
        status, body = send(connection, method, path, json_body, form, self.token)
        code = body.get("code", "") if isinstance(body, dict) else ""
        self.ledger.entries.append(Entry(kind, status, at, time.monotonic() - at, code))
        return status, body

    def with_token(self, token: str) -> Client:
        return Client(self.port, self.ledger, token, self.address)


def address_of(number: int) -> str:
    """Return one of the 16 million loopback addresses."""
    return f"127.{1 + number // 64770 % 250}.{number // 254 % 255}.{1 + number % 254}"


@cache
def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
