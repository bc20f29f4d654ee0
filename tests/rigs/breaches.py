"""A server of compromised passwords with the API of Have I Been Pwned, version 3 ("Searching by
range" and "Padding")."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Breached:
    url: str = ""
    passwords: list[str] = field(default_factory=list)
    # Received requests: the path, and whether the client asked for padding.
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    status: int = 200
    seconds: float = 0.0
    trickles: bool = False

    def answer(self, beginning: str) -> str:
        digests = [hashlib.sha1(word.encode()).hexdigest().upper() for word in self.passwords]
        known = [f"{d[5:]}:{n}" for n, d in enumerate(digests, 2) if d.startswith(beginning)]
        padding = [f"{hashlib.sha1(bytes([n])).hexdigest().upper()[5:]}:0" for n in range(100)]
        return "\r\n".join([*known, *padding])


@contextmanager
def breached_passwords(*passwords: str) -> Iterator[Breached]:
    state = Breached(passwords=list(passwords))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):  # the client has closed the connection
                self._answer()

        def _answer(self) -> None:
            state.asked.append((self.path, self.headers.get("Add-Padding")))
            time.sleep(state.seconds)
            body = state.answer(self.path.rpartition("/")[2]).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            if state.status == 302:
                self.send_header("Location", state.url.replace("127.0.0.1", "localhost"))
            self.end_headers()
            for byte in body if state.trickles else ():
                self.wfile.write(bytes([byte]))
                time.sleep(0.05)
            if not state.trickles:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
