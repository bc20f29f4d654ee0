"""The proxies of deploy/proxies/ in front of the service, each the real program."""

from __future__ import annotations

import json
import os
import socketserver
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
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
from ..rigs.traffic import furnish

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
    furnish(url)
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


def problem(answer: Answer) -> dict[str, Any]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(answer.body)
    assert found["status"] == answer.status
    assert set(found) == {"type", "title", "status", "detail", "code"}
    return found


def log_in(front: Proxy, password: str = PASSWORD, **asking: Any) -> Answer:
    form = urlencode({"username": "living@example.com", "password": password}).encode()
    headers = FORM | asking.pop("headers", {})
    return front.ask("POST", "/api/v1/login", form, headers, **asking)


def bearer(front: Proxy) -> dict[str, str]:
    return {"Authorization": f"Bearer {json.loads(log_in(front).body)['access_token']}"}


def picture(size: int) -> bytes:
    """A form with a picture of nearly as many bytes."""
    side = int((size / 3) ** 0.5)
    noise = Image.frombytes("RGB", (side, side), os.urandom(3 * side * side))
    head = 'Content-Disposition: form-data; name="avatar"; filename="x.png"'
    body = saved(noise, "PNG", compress_level=0)
    return f"--x\r\n{head}\r\n\r\n".encode() + body + b"\r\n--x--\r\n"


def send_picture(front: Proxy, size: int) -> Answer:
    headers = bearer(front) | {"Content-Type": "multipart/form-data; boundary=x"}
    return front.ask("PUT", "/api/v1/profiles/avatar", picture(size), headers)


def test_a_login_comes_through_and_over_tls(front: Proxy) -> None:
    answer = log_in(front)
    assert answer.status == 200
    assert "max-age" in answer.headers["Strict-Transport-Security"]


def test_the_largest_avatar_comes_through(front: Proxy) -> None:
    front.ask("POST", "/api/v1/profiles", json.dumps(ADA).encode(), bearer(front) | JSON)
    answer = send_picture(front, MAX_BYTES - 10_000)
    assert answer.status == 200, answer.body


def test_so_it_does_from_a_page_of_the_console(front: Proxy) -> None:
    """It has come to the service, which leads nobody to sign in by any other answer."""
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Sec-Fetch-Site": "same-origin"}
    answer = front.ask("POST", "/profile/picture", picture(MAX_BYTES - 10_000), headers)
    assert answer.status == 303, answer.body
    assert answer.headers["Location"].startswith("/sign-in")


def test_a_body_that_is_too_large_is_refused_in_the_services_own_form(front: Proxy) -> None:
    text = json.dumps({"title": "x" * 1_200_000}).encode()
    for answer in (send_picture(front, 5_400_000), front.ask("POST", "/api/v1/tasks/", text, JSON)):
        assert answer.status == 413
        assert problem(answer)["code"] == "too_large"


def test_bodies_that_trickle_in_hold_no_thread_of_the_service(front: Proxy) -> None:
    """Three times as many as it has threads: it answers, and so it does to them once they end."""
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
    """In the service's place: its port, and what it was sent so far."""
    seen: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while chunk := self.request.recv(65536):
                seen.append(chunk)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], seen
        server.shutdown()


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_goes_on_to_the_service_when_it_is_whole(
    kind: str, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, seen = listener
    with proxy(kind, port, tmp_path / kind) as front, closing(front.connect()) as connection:
        front.begin(connection, "POST", "/api/v1/tasks/", 40_000, JSON)
        connection.send(b"x" * 39_999)
        time.sleep(0.3)
        assert b"POST" not in b"".join(seen)
        connection.send(b"y")
        within(10, lambda: b"".join(seen).endswith(b"xy"))


def test_who_may_not_enter_is_told_so_with_a_picture_on_the_way(front: Proxy) -> None:
    """The service answers before it has seen the whole."""
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for _ in range(5):
        answer = front.ask("PUT", "/api/v1/profiles/avatar", b"x" * MAX_BYTES, headers)
        assert answer.status == 401
        assert problem(answer)["code"] == "invalid_credentials"


def test_each_client_has_limits_of_its_own_and_no_word_about_its_address(front: Proxy) -> None:
    net = f"127.{front.port >> 8}.{front.port & 255}"
    guesser, other = f"{net}.2", f"{net}.3"
    told = [log_in(front, "wrong", client=guesser).status for _ in range(4)]
    assert told == [400, 400, 400, 429]
    lie = {"X-Forwarded-For": other}
    assert log_in(front, "wrong", client=guesser, headers=lie).status == 429
    assert log_in(front, client=other).status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_comes_through_that_granian_takes_for_another(
    kind: str, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, seen = listener
    lies = {"X_Forwarded_For": "10.0.0.1", "X-Forwarded_For": "10.0.0.2", "script_name": "/zzz"}
    with proxy(kind, port, tmp_path / kind) as front, closing(front.connect()) as connection:
        front.begin(connection, "GET", "/api/v1/account", 0, lies)
        within(10, lambda: b"\r\n\r\n" in b"".join(seen).partition(b"/account")[2])
    names = [line.partition(b":")[0] for line in b"".join(seen).splitlines()]
    assert b"x-forwarded-for" in [name.lower() for name in names]
    assert [name for name in names if b"_" in name] == []


def test_the_proxy_gives_each_request_its_id(front: Proxy) -> None:
    answers = [front.ask("GET", "/api/v1/health", headers={"X-Request-ID": "mine"}) for _ in "ab"]
    ids = [answer.headers.get_all("X-Request-ID") for answer in answers]
    assert all(found is not None and len(found) == 1 and len(found[0]) >= 32 for found in ids)
    assert ids[0] != ids[1]


@pytest.mark.parametrize("path", ["/metrics", "//metrics", "/%6detrics", "/metrics/"])
def test_the_metrics_are_hidden(front: Proxy, path: str) -> None:
    assert problem(front.ask("GET", path))["code"] == "not_found"


def test_no_header_says_where_the_service_lies(front: Proxy) -> None:
    hidden = front.ask("GET", "/x/metrics", headers={"SCRIPT_NAME": "/x"})
    assert hidden.status == 404
    assert front.ask("GET", "/api/v1/health", headers={"SCRIPT_NAME": "/zzz"}).status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_that_is_gone_is_unavailable(kind: str, tmp_path: Path) -> None:
    with proxy(kind, free_port(), tmp_path / kind) as front:
        answer = front.ask("GET", "/api/v1/health")
    assert problem(answer)["code"] == "unavailable"
    assert answer.headers["Retry-After"] == "1"
