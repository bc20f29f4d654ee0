"""The service behind each proxy configuration of deploy/proxies/, with the real programs."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import ssl
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest
from PIL import Image

from app.profiles.picture import MAX_BYTES

from ..conftest import PASSWORD, SECRET
from ..profiles.test_profiles import ADA
from ..rigs.backends import free_port
from ..rigs.pictures import saved
from ..rigs.processes import within
from ..rigs.proxies import Answer, Proxy, proxy
from ..rigs.servers import gunicorn
from ..rigs.traffic import migrate_with_accounts

KINDS = ["nginx", "haproxy", "caddy"]
THREADS = 4
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxies")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[int]:
    url = f"sqlite:///{folder / 'frontdesk.db'}"
    migrate_with_accounts(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__TRUSTED_PROXIES": "1",
        "CORE__METRICS_ENABLED": "true",
        "AUTH__BCRYPT_ROUNDS": "4",
        "AUTH__LOGINS_AT_ONCE": "3",
        "AUTH__LOGIN_ADDRESS_LIMIT": "3 per hour",
        "PROFILES__AVATAR_FOLDER": str(folder / "avatars"),
        "WEB_THREADS": str(THREADS),
    }
    with gunicorn(settings, folder / "log") as port:
        yield port


@pytest.fixture(scope="module", params=KINDS)
def front(request: pytest.FixtureRequest, service: int, folder: Path) -> Iterator[Proxy]:
    with proxy(request.param, service, folder / request.param) as running:
        yield running


def parse_problem(response: Answer) -> dict[str, Any]:
    assert response.headers["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(response.body)
    assert found["status"] == response.status
    more = {401: {"reason"}, 429: {"retry_after"}}.get(response.status, set())
    assert set(found) == {"type", "title", "status", "detail", "code", *more}
    return found


def sign_in(front: Proxy, password: str = PASSWORD, **asking: Any) -> Answer:
    form = urlencode({"username": "active@example.com", "password": password}).encode()
    headers = FORM | asking.pop("headers", {})
    return front.ask("POST", "/api/v1/login", form, headers, **asking)


def bearer(front: Proxy) -> dict[str, str]:
    return {"Authorization": f"Bearer {json.loads(sign_in(front).body)['access_token']}"}


def picture(size: int) -> bytes:
    """Return a form with a picture of nearly this many bytes."""
    side = int((size / 3) ** 0.5)
    noise = Image.frombytes("RGB", (side, side), os.urandom(3 * side * side))
    head = 'Content-Disposition: form-data; name="avatar"; filename="x.png"'
    body = saved(noise, "PNG", compress_level=0)
    return f"--x\r\n{head}\r\n\r\n".encode() + body + b"\r\n--x--\r\n"


def send_picture(front: Proxy, size: int) -> Answer:
    headers = bearer(front) | {"Content-Type": "multipart/form-data; boundary=x"}
    return front.ask("PUT", "/api/v1/profiles/avatar", picture(size), headers)


def test_sign_in_works_through_the_proxy_over_tls(front: Proxy) -> None:
    response = sign_in(front)
    assert response.status == 200
    assert "max-age" in response.headers["Strict-Transport-Security"]


def test_largest_avatar_passes_the_proxy(front: Proxy) -> None:
    front.ask("POST", "/api/v1/profiles", json.dumps(ADA).encode(), bearer(front) | JSON)
    response = send_picture(front, MAX_BYTES - 10_000)
    assert response.status == 200, response.body


def test_largest_avatar_of_the_console_passes_the_proxy(front: Proxy) -> None:
    """A redirect to /sign-in shows that the request reached the service."""
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Sec-Fetch-Site": "same-origin"}
    response = front.ask("POST", "/profile/picture", picture(MAX_BYTES - 10_000), headers)
    assert response.status == 303, response.body
    assert response.headers["Location"].startswith("/sign-in")


def test_oversized_body_gets_a_problem_document(front: Proxy) -> None:
    text = json.dumps({"title": "x" * 1_200_000}).encode()
    for response in (
        send_picture(front, 5_400_000),
        front.ask("POST", "/api/v1/tasks/", text, JSON),
    ):
        assert response.status == 413
        assert parse_problem(response)["code"] == "too_large"


def test_slow_bodies_occupy_no_thread_of_the_service(front: Proxy) -> None:
    """Slow requests outnumber the threads: the service responds, also to them once they are
    complete."""
    body = json.dumps({"title": "x" * 100}).encode()
    with ExitStack() as stack:
        slow = [front.connect() for _ in range(3 * THREADS)]
        for connection in slow:
            stack.callback(connection.close)
            front.begin(connection, "POST", "/api/v1/tasks/", len(body), JSON)
            connection.send(body[:20])
        for _ in range(5):
            assert front.ask("GET", "/api/v1/health").status == 200
        for connection in slow:
            connection.send(body[20:])
        assert {connection.getresponse().status for connection in slow} == {201}


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A listener in place of the service: its port, and the bytes that it received."""
    received: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while chunk := self.request.recv(65536):
                received.append(chunk)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], received
        server.shutdown()


@pytest.mark.parametrize("kind", KINDS)
def test_proxy_forwards_a_body_once_it_is_complete(
    kind: str, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, received = listener
    with proxy(kind, port, tmp_path / kind) as front, closing(front.connect()) as connection:
        front.begin(connection, "POST", "/api/v1/tasks/", 40_000, JSON)
        connection.send(b"x" * 39_999)
        time.sleep(0.3)
        assert b"POST" not in b"".join(received)
        connection.send(b"y")
        within(10, lambda: b"".join(received).endswith(b"xy"))


def test_unauthenticated_upload_gets_401(front: Proxy) -> None:
    """The service responds before it has received the whole body."""
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for _ in range(5):
        response = front.ask("PUT", "/api/v1/profiles/avatar", b"x" * MAX_BYTES, headers)
        assert response.status == 401
        assert parse_problem(response)["code"] == "invalid_credentials"


def test_rate_limits_count_the_ip_address_that_the_proxy_saw(front: Proxy) -> None:
    net = f"127.{front.port >> 8}.{front.port & 255}"
    guesser, other = f"{net}.2", f"{net}.3"
    statuses = [sign_in(front, "wrong", client=guesser).status for _ in range(4)]
    assert statuses == [400, 400, 400, 429]
    forged = {"X-Forwarded-For": other}
    assert sign_in(front, "wrong", client=guesser, headers=forged).status == 429
    assert sign_in(front, client=other).status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_proxy_drops_headers_with_underscores(
    kind: str, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, received = listener
    forged = {"X_Forwarded_For": "10.0.0.1", "X-Forwarded_For": "10.0.0.2", "script_name": "/zzz"}
    with proxy(kind, port, tmp_path / kind) as front, closing(front.connect()) as connection:
        front.begin(connection, "GET", "/api/v1/account", 0, forged)
        within(10, lambda: b"\r\n\r\n" in b"".join(received).partition(b"/account")[2])
    names = [line.partition(b":")[0] for line in b"".join(received).splitlines()]
    assert b"x-forwarded-for" in [name.lower() for name in names]
    assert [name for name in names if b"_" in name] == []


def test_proxy_generates_the_request_id(front: Proxy) -> None:
    responses = [front.ask("GET", "/api/v1/health", headers={"X-Request-ID": "mine"}) for _ in "ab"]
    ids = [response.headers.get_all("X-Request-ID") for response in responses]
    assert all(found is not None and len(found) == 1 and len(found[0]) >= 32 for found in ids)
    assert ids[0] != ids[1]


@pytest.mark.parametrize("path", ["/metrics", "//metrics", "/%6detrics", "/metrics/"])
def test_proxy_hides_the_metrics(front: Proxy, path: str) -> None:
    assert parse_problem(front.ask("GET", path))["code"] == "not_found"


def test_header_cannot_set_script_name(front: Proxy) -> None:
    hidden = front.ask("GET", "/x/metrics", headers={"SCRIPT_NAME": "/x"})
    assert hidden.status == 404
    assert front.ask("GET", "/api/v1/health", headers={"SCRIPT_NAME": "/zzz"}).status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_proxy_responds_unavailable_without_a_service(kind: str, tmp_path: Path) -> None:
    with proxy(kind, free_port(), tmp_path / kind) as front:
        response = front.ask("GET", "/reset?token=emailed-secret")
    assert parse_problem(response)["code"] == "unavailable"
    assert response.headers["Retry-After"] == "1"
    # The default logs of errors quote the request.
    assert "emailed-secret" not in front.logs()


def test_proxy_logs_the_path_of_an_emailed_link_without_its_token(front: Proxy) -> None:
    referer = {"Referer": "https://api.example.com/reset?token=emailed-secret"}
    assert front.ask("GET", "/reset?token=emailed-secret", headers=referer).status == 200
    assert front.ask("GET", "/api/v1/invitation?token=emailed-secret").status != 200
    within(10, lambda: "/reset" in front.logs() and "/api/v1/invitation" in front.logs())
    assert "emailed-secret" not in front.logs()


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("TLSv1", False), ("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)],
)
def test_proxy_accepts_only_tls_1_2_and_1_3(front: Proxy, version: str, accepted: bool) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # OpenSSL's default level of security has no TLS before 1.2.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    expected = nullcontext() if accepted else pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION")
    with (
        socket.create_connection(("127.0.0.1", front.port), timeout=10) as plain,
        expected,
        context.wrap_socket(plain) as encrypted,
    ):
        assert encrypted.version() == version.replace("_", ".")
