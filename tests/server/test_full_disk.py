"""A full disk under the SQLite database or the avatars, with traffic running."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import create_app
from app.accounts.service import Accounts
from app.core.context import service
from config import Settings

from ..conftest import PASSWORD, SECRET, migrate
from ..rigs.disks import SmallDisk, small_disk
from ..rigs.pictures import plain
from ..rigs.servers import Server, gunicorn_server
from ..rigs.traffic import Client, stored_titles, traffic

PROFILE = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


def create_settings(url: str, disk: SmallDisk) -> dict[str, str]:
    migrate(url)
    settings = Settings(
        SECRET_KEY=SECRET,
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        AUTH={"BCRYPT_ROUNDS": 4},
    )
    with create_app(settings).app_context():
        for name in ("active", "revoked"):
            service(Accounts).create(f"{name}@example.com", PASSWORD)
    return {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "AUTH__BCRYPT_ROUNDS": "4",
        "PROFILES__AVATAR_FOLDER": str(disk.folder / "avatars"),
    }


def upload(server: Server, client: Client) -> int:
    boundary = b"--frontdesk"
    body = b"".join(
        (
            boundary + b'\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n',
            b"Content-Type: image/png\r\n\r\n",
            plain("PNG", (300, 300)),
            b"\r\n" + boundary + b"--\r\n",
        )
    )
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
    headers = {
        "Authorization": f"Bearer {client.token}",
        "Content-Type": "multipart/form-data; boundary=frontdesk",
    }
    connection.request("PUT", "/api/v1/profiles/avatar", body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_full_database_disk_rejects_writes_and_recovers(disk: SmallDisk, tmp_path: Path) -> None:
    settings = create_settings(f"sqlite:///{disk.folder / 'frontdesk.db'}", disk)
    with gunicorn_server(settings, tmp_path / "log") as server:
        active = Client(server.port).sign_in("active@example.com", PASSWORD)
        revoked = Client(server.port).sign_in("revoked@example.com", PASSWORD)
        assert revoked.ask("DELETE", "/logout")[0] == 200
        with traffic(server.port, active, revoked) as ledger:
            time.sleep(0.3)
            disk.fill(server.workers())
            time.sleep(1.5)
            assert 503 in ledger.statuses("write")
            disk.free_space(server.workers())
            at = time.monotonic()
            time.sleep(1)
            assert ledger.first_success("write", at) < 2
        assert ledger.statuses("write") <= {201, 503}
        assert ledger.statuses("account") == {200}
        assert ledger.statuses("revoked") == {401}
        assert ledger.statuses("health") == {200}
        assert set(ledger.acknowledged) <= stored_titles(server.port)
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_full_avatar_disk_rejects_uploads_and_recovers(disk: SmallDisk, tmp_path: Path) -> None:
    settings = create_settings(f"sqlite:///{tmp_path / 'frontdesk.db'}", disk)
    with gunicorn_server(settings, tmp_path / "log") as server:
        active = Client(server.port).sign_in("active@example.com", PASSWORD)
        assert active.ask("POST", "/profiles", PROFILE)[0] == 200
        assert upload(server, active) == 200
        disk.fill(server.workers())
        assert upload(server, active) == 503
        assert active.ask("GET", "/profiles")[0] == 200
        disk.free_space(server.workers())
        assert upload(server, active) == 200
    assert "Traceback" not in (tmp_path / "log").read_text()
