"""Web sites of several owners on this machine: over TLS, under names that a browser is told, with
note taken of every request that comes in."""

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
# A site, its neighbour, and another site; a browser that is told finds all of them here.
DESK, NEIGHBOUR, EVIL = "desk.site.test", "blog.site.test", "evil.test"


@dataclass
class Seen:
    """One request as it came in, and how it was answered."""

    shape: str
    method: str
    path: str
    has_cookie: bool
    site: str | None
    origin: str | None
    status: int


@dataclass
class Watch:
    """In front of an application."""

    inner: Wsgi
    cookie: str
    seen: list[Seen] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        def start(status: str, headers: Any, *more: Any) -> Any:
            asked = parse_qs(environ.get("QUERY_STRING", ""))
            self.seen.append(
                Seen(
                    asked.get("shape", [""])[0],
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

    def of(self, shape: str, seconds: float = 15.0) -> list[Seen]:
        """What has come of it, once something has."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(each.shape == shape for each in self.seen):
                # A preflight that is answered is followed by what it was for.
                time.sleep(0.15)
                return [each for each in self.seen if each.shape == shape]
            time.sleep(0.01)
        return []


@contextmanager
def serving(app: Wsgi, folder: Path | None = None, port: int = 0) -> Iterator[int]:
    """Over TLS where a folder for the certificate is given; its port."""
    context = None if folder is None else _certified(folder)
    server = make_server("127.0.0.1", port, app, threaded=True, ssl_context=context)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certified(folder: Path) -> ssl.SSLContext:
    path = folder / "server.pem"
    path.write_bytes(Authority().issue(DESK))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def strangers(pages: Mapping[str, str]) -> Flask:
    """Serves the pages of whoever it is asked as, and leads on to where it is told."""
    app = Flask("strangers", static_folder=None)

    @app.get("/<path:name>")
    def page(name: str) -> Response:
        found = pages.get(name)
        return Response(found, 200 if found else 404, mimetype="text/html")

    @app.route("/lead-on", methods=["POST"])
    def lead_on() -> Any:
        return redirect(request.args["to"], 307)

    @app.after_request
    def let_everybody_read(response: Response) -> Response:
        response.headers["Access-Control-Allow-Origin"] = request.headers.get("Origin", "*")
        response.headers["Access-Control-Allow-Credentials"] = "true"
        return response

    return app
