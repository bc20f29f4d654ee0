"""The systemd units of deploy/etc/ under a real systemd, with the commands of docs/systemd.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ..conftest import SECRET
from ..profiles.test_profiles import ADA
from ..rigs.backends import free_port, missing, wait_for_port
from ..rigs.machines import Machine, machine
from ..rigs.pictures import plain
from ..rigs.processes import within
from ..rigs.servers import ROOT

FOLDER = ROOT / "deploy" / "etc" / "systemd" / "system"
SERVICES = sorted(path.name for path in FOLDER.glob("*.service"))
UNITS = sorted(path for path in FOLDER.iterdir() if path.is_file())
PASSWORD = "a password for root"
SETTINGS = f"""
SECRET_KEY={SECRET}
FIRST_SUPERUSER_PASSWORD={PASSWORD}
CORE__KEYSTORE=database
WEB_CONCURRENCY=2
"""


def analyze(*words: str) -> str:
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is not installed")
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_service_unit_is_sandboxed(name: str) -> None:
    output = analyze("security", "--offline=true", "--no-pager", str(FOLDER / name))
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", output)
    assert exposure is not None
    assert float(exposure[1]) < 3


def command_blocks() -> list[str]:
    """Return the blocks of commands on the page."""
    part = (ROOT / "docs" / "systemd.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```$", part, re.M | re.S)


def copy_code(target: Path) -> None:
    """Copy the files of a clone, and files that are not committed yet."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name, follow_symlinks=False)


def install_packages(machine: Machine) -> None:
    """Install the packages before the page's pip, which would need a minute."""
    shutil.copy(f"{sys.prefix}/bin/uv", machine.root / "usr/local/bin/uv")
    options = "--system-certs --link-mode copy -r requirements.txt"
    machine.run(
        "cd /srv/frontdesk; /usr/local/bin/uv -q venv --python /usr/bin/python3"
        f"; /usr/local/bin/uv -q pip install {options}"
    )


def import_once(machine: Machine) -> None:
    """Import everything once to compile it: the sandboxed services cannot write the bytecode."""
    machine.run(
        f"cd /srv/frontdesk; export SECRET_KEY='{SECRET}' CORE__CELERY_BROKER_URL=redis://127.0.0.1"
        "; .venv/bin/gunicorn -c gunicorn.conf.py --check-config wsgi:app"
        "; .venv/bin/celery -A wsgi:celery report"
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(tmp_path_factory.mktemp("machine")) as found:
        copy_code(found.root / "srv" / "frontdesk")
        install_packages(found)
        found.run(command_blocks()[0])
        import_once(found)
        yield found


@pytest.fixture(scope="module")
def base(installed: Machine, redis_url: str) -> Iterator[str]:
    """Return the base URL of the service that the page's commands have started."""
    port = free_port()
    with (installed.root / "etc/frontdesk.env").open("a") as settings:
        settings.write(f"{SETTINGS}CORE__CELERY_BROKER_URL={redis_url}\n")
    override = installed.root / "etc/systemd/system/frontdesk.socket.d/port.conf"
    override.parent.mkdir(parents=True)
    override.write_text(f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{port}\n")
    _, start, start_worker, _ = command_blocks()
    installed.run(start)
    installed.run(start_worker)
    wait_for_port(port)
    yield f"http://127.0.0.1:{port}/api/v1"
    print(installed.run("journalctl --no-pager"))


@pytest.fixture(scope="module")
def root(base: str) -> requests.Session:
    form = {"username": "root@example.com", "password": PASSWORD}
    signed_in = requests.post(f"{base}/login", data=form, timeout=10)
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {signed_in.json()['access_token']}"
    return session


def test_systemd_verifies_the_units(installed: Machine) -> None:
    names = " ".join(f"/srv/frontdesk/{unit.relative_to(ROOT)}" for unit in UNITS)
    assert installed.run(f"systemd-analyze verify {names}") == ""


def test_commands_of_the_page_start_the_service(base: str, installed: Machine) -> None:
    assert requests.get(f"{base}/health/ready", timeout=10).json()["status"] == "ok"
    running = installed.run("systemctl show -P ActiveState frontdesk frontdesk-worker").split()
    assert running == ["active", "active"]
    assert installed.run("stat -c %U:%a /srv/frontdesk/instance/*.db") == "frontdesk:600\n"


def test_sandbox_permits_what_the_service_does(
    base: str, root: requests.Session, installed: Machine
) -> None:
    assert root.post(f"{base}/profiles", json=ADA).status_code == 200
    picture = {"avatar": ("x.png", plain("PNG"), "image/png")}
    assert root.put(f"{base}/profiles/avatar", files=picture).status_code == 200
    installed.run("systemctl reload frontdesk; systemctl restart frontdesk")
    assert root.get(f"{base}/account").status_code == 200


def test_worker_sends_queued_messages(
    base: str, root: requests.Session, installed: Machine
) -> None:
    data = {"title": "x", "message": "y", "channels": ["inapp", "email"]}
    assert root.post(f"{base}/admin/notifications/", json={"data": data}).status_code == 201
    outbox = "stat -c %U /srv/frontdesk/instance/outbox/*.eml"
    within(20, lambda: installed.run(outbox, check=False).startswith("frontdesk\n"))


def test_nightly_prune_succeeds(base: str, installed: Machine) -> None:
    installed.run("systemctl start frontdesk-prune")
    assert "frontdesk-prune.timer" in installed.run("systemctl list-timers --no-pager")


def test_command_uses_the_settings_of_the_service(base: str, installed: Machine) -> None:
    output = installed.run(f"cd /srv/frontdesk; {command_blocks()[3]}", check=False)
    assert "secret_key" not in output
    assert re.search(r"^0 errors", output, re.M), output


def test_publicly_known_secret_key_stops_the_start(base: str, installed: Machine) -> None:
    settings = installed.root / "etc/frontdesk.env"
    valid = settings.read_text()
    settings.write_text(f"{valid}SECRET_KEY=changethis\n")
    installed.run("! systemctl restart frontdesk")
    output = installed.run("journalctl --no-pager --unit frontdesk")
    assert "aborts startup: SECRET_KEY is a placeholder from documentation or examples" in output
    settings.write_text(valid)
    installed.run("systemctl reset-failed frontdesk frontdesk.socket; systemctl restart frontdesk")
