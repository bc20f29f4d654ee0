"""Reverse proxies as configured in deploy/proxies/, except ports, certificate and folders."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .backends import free_port, missing, wait_for_port
from .servers import ROOT, bare_environment

FOLDER = ROOT / "deploy" / "proxies"

# The protocols, and not OpenSSL's level of security, decide which version of TLS is accepted.
_CIPHERS = "DEFAULT:@SECLEVEL=0"
# nginx needs its own folders and must stay in the foreground.
_NGINX = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    ssl_ciphers {ciphers};
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/nginx.conf;
}}
"""


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass
class Proxy:
    port: int
    folder: Path

    def logs(self) -> str:
        return "".join(path.read_text() for path in self.folder.glob("*log"))

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] = {},
        client: str = "127.0.0.1",
    ) -> Answer:
        """Send a request over TLS from the loopback address `client`."""
        connection = self.connect(client)
        try:
            self.begin(connection, method, path, len(body), headers)
            # A server that rejects a request need not read its body.
            with contextlib.suppress(OSError):
                connection.send(body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def connect(self, client: str = "127.0.0.1") -> http.client.HTTPSConnection:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=10, source_address=(client, 0), context=context
        )

    @staticmethod
    def begin(
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        length: int,
        headers: Mapping[str, str] = {},
    ) -> None:
        connection.putrequest(method, path)
        for name, value in ({"Content-Length": str(length)} | dict(headers)).items():
            connection.putheader(name, value)
        connection.endheaders()


@contextmanager
def proxy(kind: str, service: int, folder: Path, second: int | None = None) -> Iterator[Proxy]:
    """Run `nginx`, `haproxy` or `caddy` in front of the service at port `service`; `second` enables
    the second server, which is a comment in the configuration."""
    port, command = prepare(kind, service, folder, second)
    with running(command, port, folder):
        yield Proxy(port, folder)


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a prepared proxy."""
    # Caddy saves its configuration in XDG_CONFIG_HOME.
    environment = bare_environment(XDG_CONFIG_HOME=str(folder))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=environment)
    try:
        wait_for_port(port)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def prepare(
    kind: str, service: int, folder: Path, second: int | None = None
) -> tuple[int, list[str]]:
    """Write the proxy's configuration and certificate; return its port and command."""
    if shutil.which(kind) is None:
        missing(f"{kind} is not installed")
    folder.mkdir()
    port = free_port()
    certificate(folder)
    return port, _PREPARED[kind](port, service, folder, second)


def certificate(folder: Path) -> None:
    key, chain = folder / "privkey.pem", folder / "fullchain.pem"
    options = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1"
    subprocess.run(
        ["openssl", "req", *options.split(), "-keyout", key, "-out", chain],
        check=True,
        capture_output=True,
    )
    (folder / "frontdesk.pem").write_text(chain.read_text() + key.read_text())


def _nginx(port: int, service: int, folder: Path, second: int | None) -> list[str]:
    changed = {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        "/etc/ssl/frontdesk/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
    }
    if second:
        changed["# server 10.0.0.2:8000 "] = f"server 127.0.0.1:{second} "
    _write("nginx.conf", folder, changed)
    # Only the test's user can enter pytest's folders.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "main.conf").write_text(_NGINX.format(folder=folder, user=user, ciphers=_CIPHERS))
    return ["nginx", "-p", str(folder), "-c", f"{folder}/main.conf", "-e", "stderr"]


def _haproxy(port: int, service: int, folder: Path, second: int | None) -> list[str]:
    changed = {
        "    user haproxy\n    group haproxy\n": "",
        "bind :443 ": f"bind 127.0.0.1:{port} ",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        "/etc/haproxy/": f"{folder}/",
        "    log /dev/log local0\n": (
            f"    log stdout format raw local0\n    ssl-default-bind-ciphers {_CIPHERS}\n"
        ),
    }
    if second:
        changed["# server desk2 10.0.0.2:8000 "] = f"server desk2 127.0.0.1:{second} "
    _write("haproxy.cfg", folder, changed)
    return ["haproxy", "-db", "-f", f"{folder}/haproxy.cfg"]


def _caddy(port: int, service: int, folder: Path, second: int | None) -> list[str]:
    tls = f"tls {folder}/fullchain.pem {folder}/privkey.pem"
    own = f"\tadmin off\n\tauto_https off\n\tstorage file_system {folder}\n"
    changed = {
        "\tservers {": f"{own}\tservers {{",
        "api.example.com {": f"https://127.0.0.1:{port} {{\n\tbind 127.0.0.1\n\t{tls}",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
    }
    if second:
        both = f"\t\treverse_proxy 127.0.0.1:{service} 127.0.0.1:{second} {{"
        changed = {"\t\treverse_proxy 127.0.0.1:8000 {": both, **changed}
    _write("Caddyfile", folder, changed)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


def _write(name: str, folder: Path, changed: Mapping[str, str]) -> None:
    text = (FOLDER / name).read_text()
    for written, here in changed.items():
        assert written in text, f"{name} has no {written!r}"
        text = text.replace(written, here)
    (folder / name).write_text(text)


_PREPARED: dict[str, Callable[[int, int, Path, int | None], list[str]]] = {
    "nginx": _nginx,
    "haproxy": _haproxy,
    "caddy": _caddy,
}
