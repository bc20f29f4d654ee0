"""The React example as its page says: the tutorial's application, the build, and the servers."""

from __future__ import annotations

import functools
import json
import re
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from . import proxies
from .backends import free_port, wait_for_port
from .follow import FACTORY, edited
from .guides import in_order, page
from .npm import install, tool
from .servers import ROOT, bare_environment

EXAMPLE = ROOT / "examples" / "react"
# Guides with steps that the page assumes or names, and the multi-factor authentication of its form.
GUIDES = ("react", "mfa", "reverse-proxy")
_SERVE = """
import sys
from pinboard import create_app

create_app().run(port=int(sys.argv[1]), debug=sys.argv[2:] == ["debug"], use_reloader=False)
"""
_RUN = """
import sys
from pinboard import create_app
from pinboard.extensions import frontdesk
from pinboard.models import db

with create_app().app_context():
    exec(sys.argv[1])
"""


@dataclass
class Pinboard:
    """The tutorial's application after the steps of the guides."""

    python: str
    folder: Path

    @classmethod
    def prepare(cls, python: str, folder: Path) -> Pinboard:
        shutil.copytree(ROOT / "examples" / "tutorial", folder)
        factory = (folder / FACTORY).read_text()
        for guide in GUIDES:
            for step in in_order(page(guide), "application"):
                if step.language == "python":
                    factory = edited(factory, step.code)
        (folder / FACTORY).write_text(factory)
        pinboard = cls(python, folder)
        pinboard.run("db.create_all()")
        return pinboard

    def run(self, code: str) -> None:
        """Run code in the application, in another process than the server."""
        command = [self.python, "-c", _RUN, code]
        subprocess.run(command, cwd=self.folder, env=self._environment(), check=True)

    def last_code(self) -> str:
        """Return the code of the newest email."""
        newest = max((self.folder / "instance" / "outbox").glob("*.eml"))
        code = re.search(r"\b\d{8}\b", newest.read_text())
        assert code is not None
        return code[0]

    def wait_for(self, entry: str) -> None:
        """Wait until the server's log, without its colors, has an entry."""
        for _ in range(100):
            log = re.sub(r"\x1b\[\d+m", "", (self.folder / "log").read_text())
            if entry in log:
                return
            time.sleep(0.1)
        raise AssertionError(f"{entry!r} is not in the log:\n{log}")

    @contextmanager
    def serve(self, port: int, *options: str, **settings: str) -> Iterator[None]:
        with (self.folder / "log").open("a") as log:
            process = subprocess.Popen(
                [self.python, "-c", _SERVE, str(port), *options],
                cwd=self.folder,
                env=self._environment(**settings),
                stdout=log,
                stderr=log,
            )
        try:
            wait_for_port(port, 60)
            yield
        finally:
            process.terminate()
            process.wait(10)

    def _environment(self, **settings: str) -> dict[str, str]:
        return bare_environment(
            SECRET_KEY="a key that only this test knows, long enough",
            ENCRYPTION_KEY="another key that only this test knows",
            FRONTDESK_AUTH__BCRYPT_ROUNDS="4",
            **settings,
        )


@dataclass
class FrontEnd:
    """A copy of the example with its packages."""

    folder: Path

    @classmethod
    def prepare(cls, folder: Path) -> FrontEnd:
        install(EXAMPLE)
        ignored = shutil.ignore_patterns("node_modules", "dist")
        shutil.copytree(EXAMPLE, folder, ignore=ignored)
        (folder / "node_modules").symlink_to(EXAMPLE / "node_modules")
        return cls(folder)

    def run(self, program: str, *arguments: str, **environment: str) -> None:
        """Run a command; a failing test shows its output."""
        subprocess.run(
            [tool(program), *arguments],
            cwd=self.folder,
            env=bare_environment(**environment),
            check=True,
            timeout=240,
        )

    @contextmanager
    def develop(self, port: int, service: int, **environment: str) -> Iterator[None]:
        """Run Vite's development server with its proxy."""
        config = self.folder / "vite.config.ts"
        config.write_text(config.read_text().replace(":5000", f":{service}"))
        with (self.folder / "log").open("w") as log:
            process = subprocess.Popen(
                ["node_modules/.bin/vite", "--host=127.0.0.1", f"--port={port}", "--strictPort"],
                cwd=self.folder,
                env=bare_environment(**environment),
                stdout=log,
                stderr=log,
            )
        try:
            wait_for_port(port, 60)
            yield
        finally:
            process.terminate()
            process.wait(10)


@dataclass
class Deployment:
    """Both deployments of the page: `one` has the page and the API, `other` only the page."""

    pinboard: Pinboard
    one: str
    other: str


@contextmanager
def deployed(python: str, folder: Path) -> Iterator[Deployment]:
    pinboard = Pinboard.prepare(python, folder / "pinboard-app")
    front_end = FrontEnd.prepare(folder / "react")
    service, static = free_port(), free_port()
    port, command = proxies.prepare("nginx", service, folder / "nginx")
    one, other = f"https://127.0.0.1:{port}", f"https://127.0.0.1:{static}"
    front_end.run("npm", "run", "build")
    other_build = ("npm", "run", "build", "--", "--outDir", str(folder / "other"))
    front_end.run(*other_build, VITE_API=f"{one}/api/")
    _add_page(folder / "nginx" / "nginx.conf", front_end.folder / "dist")
    settings = {"PUBLIC_URL": one, "FRONTDESK_CORE__CORS_ORIGINS": json.dumps([other])}
    with (
        pinboard.serve(service, **settings),
        proxies.running(command, port, folder / "nginx"),
        _static(static, folder / "other", folder / "nginx" / "frontdesk.pem"),
    ):
        yield Deployment(pinboard, one, other)


def _add_page(config: Path, build: Path) -> None:
    """Replace nginx's place for the whole service by the places of the example."""
    places = (EXAMPLE / "nginx.conf").read_text().replace("/srv/pinboard/dist", str(build))
    whole = "    location / {\n        proxy_pass http://frontdesk;\n    }\n"
    text = config.read_text()
    assert text.count(whole) == 1
    # As in the nginx.conf of nginx's packages.
    types = "include /etc/nginx/mime.types;\n"
    config.write_text(types + text.replace(whole, places))


@contextmanager
def _static(port: int, folder: Path, certificate: Path) -> Iterator[None]:
    """Serve the files of a build over TLS."""

    class Files(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing about requests."""

    server = ThreadingHTTPServer(
        ("127.0.0.1", port), functools.partial(Files, directory=str(folder))
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()
