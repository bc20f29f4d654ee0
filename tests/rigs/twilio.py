"""A fake of Twilio's HTTP API, for tests."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs


@dataclass
class Gateway:
    url: str = ""
    sent: list[dict[str, str]] = field(default_factory=list)
    # The status of the next responses; 0: no response.
    status: int = 201


@contextmanager
def sms_gateway() -> Iterator[Gateway]:
    gateway = Gateway()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if gateway.status == 0:
                time.sleep(1)
                return
            if gateway.status == 201:
                form = {name: values[0] for name, values in parse_qs(body).items()}
                gateway.sent.append(form)
                self._answer(201, {"sid": f"SM{len(gateway.sent)}", "status": "queued"})
            else:
                self._answer(gateway.status, {"code": 20000, "message": "No", "status": 1})

        def _answer(self, status: int, body: dict[str, object]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    gateway.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
