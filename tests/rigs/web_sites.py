"""Web sites of several owners on this machine, over TLS, and a record of their requests."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from flask import Flask, Response, redirect, request
from werkzeug.serving import make_server

from .certificates import Authority

Wsgi = Callable[..., Any]
# A site, a sibling of it, and another site. `--host-resolver-rules` makes a browser find them here.
DESK, NEIGHBOUR, EVIL = "desk.site.test", "blog.site.test", "evil.test"


@dataclass
class ReceivedRequest:
    """A request and the status of its response."""

    page: str
    method: str
    path: str
    has_cookie: bool
    site: str | None
    origin: str | None
    status: int


@dataclass
class RequestRecorder:
    """WSGI middleware that records the requests of an application."""

    inner: Wsgi
    cookie: str
    received: list[ReceivedRequest] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        def start(status: str, headers: Any, *more: Any) -> Any:
            asked = parse_qs(environ.get("QUERY_STRING", ""))
            self.received.append(
                ReceivedRequest(
                    asked.get("page", [""])[0],
                    environ["REQUEST_METHOD"],
                    environ["PATH_INFO"],
                    f"{self.cookie}=" in environ.get("HTTP_COOKIE", ""),
                    environ.get("HTTP_SEC_FETCH_SITE"),
                    environ.get("HTTP_ORIGIN"),
                    int(status[:3]),
                )
            )
            return start_response(status, headers, *more)

        return self.inner(environ, start)

    def wait_for(self, page: str, seconds: float = 15.0) -> list[ReceivedRequest]:
        """Wait for the requests of a page and return them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(each.page == page for each in self.received):
                # An accepted preflight is followed by the actual request.
                time.sleep(0.15)
                return [each for each in self.received if each.page == page]
            time.sleep(0.01)
        return []


@contextmanager
def serve_site(app: Wsgi, folder: Path | None = None, port: int = 0) -> Iterator[int]:
    """Serve an application, over TLS if there is a folder for the certificate; yield the port."""
    context = None if folder is None else _tls_context(folder)
    server = make_server("127.0.0.1", port, app, threaded=True, ssl_context=context)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _tls_context(folder: Path) -> ssl.SSLContext:
    path = folder / "server.pem"
    path.write_bytes(Authority().issue(DESK))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def attacker_site(pages: Mapping[str, str]) -> Flask:
    """Return an application with these pages, which redirects to any URL."""
    app = Flask("attacker", static_folder=None)

    @app.get("/<path:name>")
    def page(name: str) -> Response:
        found = pages.get(name)
        return Response(found, 200 if found else 404, mimetype="text/html")

    @app.route("/redirect", methods=["POST"])
    def redirect_on() -> Any:
        return redirect(request.args["to"], 307)

    @app.after_request
    def allow_every_origin(response: Response) -> Response:
        response.headers["Access-Control-Allow-Origin"] = request.headers.get("Origin", "*")
        response.headers["Access-Control-Allow-Credentials"] = "true"
        return response

    return app
