"""The service on a read-only file system, as in a container that runs with `--read-only`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from ..conftest import PASSWORD, SECRET
from ..rigs.backends import free_port, missing, wait_for_port
from ..rigs.brokers import redis_broker
from ..rigs.pictures import plain
from ..rigs.processes import within
from ..rigs.servers import ROOT, bare_environment
from ..rigs.traffic import Client

# The code that the image copies, next to the folder `instance`.
COPIED = ("app", "migrations", "templates", "wsgi.py", "config.py", "gunicorn.conf.py")
# A mount namespace in which everything is read-only except two folders; /dev/shm is writable as in
# a container.
READ_ONLY = """
mount --make-rprivate /
mount --bind instance instance
mount --bind "$TMPDIR" "$TMPDIR"
for place in / /tmp "$PWD"; do
    mount -o remount,bind,ro "$(findmnt --noheadings --output TARGET --target "$place" | tail -1)"
done
! touch app/written 2>/dev/null
! touch /tmp/written 2>/dev/null
"""
UPGRADE = """
python -m flask --app wsgi db upgrade
python -m flask --app wsgi accounts ensure-superuser
"""
UNSHARE = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))
PROFILE = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The code as in the image, and the two folders that can be written."""
    folder = tmp_path / "frontdesk"
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / "instance").mkdir(mode=0o700)
    (tmp_path / "tmp").mkdir()
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode:
        missing("mount namespaces are not available")
    return folder


@contextmanager
def read_only(folder: Path, command: str, **settings: str) -> Iterator[Path]:
    """Run a shell command on a read-only file system and yield its log."""
    log = folder.parent / f"{len(list(folder.parent.glob('*.log')))}.log"
    environment = bare_environment(
        **settings,
        HOME=str(folder),
        TMPDIR=str(folder.parent / "tmp"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        PYTHONDONTWRITEBYTECODE="1",
    )
    with log.open("w") as output:
        process = subprocess.Popen(
            [*UNSHARE, "sh", "-ec", f"{READ_ONLY}\n{command}"],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            yield log
        finally:
            process.terminate()
            process.wait(timeout=35)


def upload(client: Client) -> int:
    body = b"".join(
        (
            b'--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n',
            b"Content-Type: image/png\r\n\r\n",
            plain("PNG", (300, 300)),
            b"\r\n--x--\r\n",
        )
    )
    headers = {
        "Authorization": f"Bearer {client.token}",
        "Content-Type": "multipart/form-data; boundary=x",
    }
    with closing(HTTPConnection("127.0.0.1", client.port, timeout=15)) as connection:
        connection.request("PUT", "/api/v1/profiles/avatar", body, headers)
        return connection.getresponse().status


def test_service_and_worker_write_only_to_instance_and_the_temporary_folder(folder: Path) -> None:
    port = free_port()
    settings = {
        "SECRET_KEY": SECRET,
        "FIRST_SUPERUSER_PASSWORD": PASSWORD,
        "BIND": f"127.0.0.1:{port}",
        "WEB_CONCURRENCY": "2",
        "CORE__KEYSTORE": "database",
        "CORE__METRICS_ENABLED": "true",
        "CORE__PRODUCTION_CHECKS": "refuse",
        "AUTH__ACCOUNT_EXPORTS": "on",
        "AUTH__BCRYPT_ROUNDS": "10",
    }
    web = f"{UPGRADE}exec python -m gunicorn -c gunicorn.conf.py wsgi:app"
    worker = "exec python -m celery -A wsgi:celery worker --loglevel WARNING --concurrency 1"
    with redis_broker(folder.parent) as broker:
        settings |= broker.settings
        with read_only(folder, web, **settings) as web_log:
            wait_for_port(port, 60)
            with read_only(folder, worker, **settings) as worker_log:
                use_all_folders(Client(port).sign_in("root@example.com", PASSWORD))
    written = {path.name for path in (folder / "instance").iterdir()}
    assert {"frontdesk.db", "avatars", "exports", "outbox"} <= written
    for log in (web_log, worker_log):
        assert "Read-only" not in log.read_text()
        assert "Traceback" not in log.read_text()


def use_all_folders(root: Client) -> None:
    """Store an avatar, send an email to the outbox, and create an export."""
    assert root.ask("POST", "/profiles", PROFILE)[0] == 200
    assert upload(root) == 200
    assert root.ask("POST", "/password-recovery", {"email": "root@example.com"})[0] == 200
    status, export = root.ask("POST", "/account/exports", {})
    assert status == 202
    path = f"/account/exports/{export['id']}"
    within(60, lambda: root.ask("GET", path)[1]["state"] == "ready")
