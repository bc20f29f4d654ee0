"""Memory of a real server that decodes hostile pictures, and its release afterwards."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from ..conftest import PASSWORD, SECRET
from ..profiles.test_profiles import ADA
from ..rigs.pictures import HOSTILE, plain
from ..rigs.processes import within
from ..rigs.servers import Server, gunicorn_server
from ..rigs.traffic import Client, migrate_with_accounts

MEBIBYTE = 2**20
CONCURRENT = 12


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pictures")
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": f"sqlite:///{folder / 'frontdesk.db'}",
        "AUTH__BCRYPT_ROUNDS": "4",
        "PROFILES__AVATAR_FOLDER": str(folder / "avatars"),
    }
    migrate_with_accounts(settings["CORE__DATABASE_URL"])
    with gunicorn_server(settings, folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def active(server: Server) -> Client:
    active = Client(server.port).sign_in("active@example.com", PASSWORD)
    assert active.ask("POST", "/profiles", ADA)[0] == 200
    return active


@pytest.fixture(scope="module")
def base_memory(server: Server, active: Client) -> int:
    """Return the memory of the server before its first picture."""
    return resident(server)


def resident(server: Server) -> int:
    """Return the bytes in memory of the workers and their child processes."""
    found = 0
    for pid in server.workers():
        found += _resident(pid)
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            found += sum(_resident(int(child), of=pid) for child in path.read_text().split())
    return found


def _resident(pid: int, of: int | None = None) -> int:
    try:
        # Before it executes its own program, a child only shares its parent's memory.
        if of is not None and _command(pid) == _command(of):
            return 0
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0  # the process has just ended


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@contextmanager
def watched(server: Server) -> Iterator[list[int]]:
    """Measure the memory of the server repeatedly until the block ends."""
    measures = [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.005):
            measures.append(resident(server))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield measures
    finally:
        over.set()
        thread.join()


def send(client: Client, picture: bytes) -> int:
    boundary, body = encode_multipart({"avatar": FileStorage(BytesIO(picture), "picture.png")})
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    headers = {
        "Authorization": f"Bearer {client.token}",
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    }
    try:
        connection.request("PUT", "/api/v1/profiles/avatar", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def send_until_answered(client: Client, picture: bytes) -> int:
    """Send a picture, and again after each 503 of a busy server."""
    while (status := send(client, picture)) == 503:
        time.sleep(0.5)
    return status


def test_concurrent_hostile_pictures_stay_within_the_memory_bound(
    server: Server, active: Client, base_memory: int
) -> None:
    pictures = [make() for make in HOSTILE.values()]
    with watched(server) as measures, ThreadPoolExecutor(CONCURRENT) as clients:
        statuses = list(clients.map(lambda picture: send_until_answered(active, picture), pictures))
    assert set(statuses) == {200, 422}, dict(zip(HOSTILE, statuses, strict=True))
    # The lower bound shows that the decoding was measured.
    assert 100 * MEBIBYTE <= max(measures) - base_memory <= 200 * MEBIBYTE
    within(10, lambda: resident(server) - base_memory <= 30 * MEBIBYTE)


MOST_EXPENSIVE = [
    "webp of 7.8 megapixels",
    "webp of many codes",
    "jpeg of 16 megapixels, progressive, for print",
    "png of 16 bits, interlaced",
    "png of many texts",
    "five mebibytes",
]


@pytest.mark.parametrize("kind", MOST_EXPENSIVE)
def test_concurrent_equal_pictures_stay_within_the_memory_bound(
    server: Server, active: Client, base_memory: int, kind: str
) -> None:
    picture = HOSTILE[kind]()
    with watched(server) as measures, ThreadPoolExecutor(CONCURRENT) as clients:
        statuses = set(clients.map(lambda _: send(active, picture), range(CONCURRENT)))
    assert statuses <= {200, 422, 503}
    print(f"{kind}: {(max(measures) - base_memory) / MEBIBYTE:.0f} MiB more at most")
    assert max(measures) - base_memory <= 200 * MEBIBYTE
    within(10, lambda: resident(server) - base_memory <= 30 * MEBIBYTE)


def test_valid_picture_is_accepted_afterwards(active: Client) -> None:
    assert send_until_answered(active, plain("PNG")) == 200
