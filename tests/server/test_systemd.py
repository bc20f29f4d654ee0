"""What deploy/etc/ has for systemd, under a real one, by the commands of the page on operations."""

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
def test_a_service_is_kept_in_a_sandbox(name: str) -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(FOLDER / name))
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", said)
    assert exposure is not None
    assert float(exposure[1]) < 3


def steps() -> list[str]:
    """The blocks of commands on the page."""
    part = (ROOT / "docs" / "systemd.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```$", part, re.M | re.S)


def copy_code(target: Path) -> None:
    """What a clone has, and what has not been committed yet."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name, follow_symlinks=False)


def lend_packages(machine: Machine) -> None:
    """The page's pip finds its work done, which it would be at for a minute."""
    shutil.copy(f"{sys.prefix}/bin/uv", machine.root / "usr/local/bin/uv")
    options = "--system-certs --link-mode copy -r requirements.txt"
    machine.run(
        "cd /srv/frontdesk; /usr/local/bin/uv -q venv --python /usr/bin/python3"
        f"; /usr/local/bin/uv -q pip install {options}"
    )


def import_once(machine: Machine) -> None:
    """As pip leaves it compiled: in their sandbox, the services could keep nothing of it."""
    machine.run(
        f"cd /srv/frontdesk; export SECRET_KEY='{SECRET}' CORE__CELERY_BROKER_URL=redis://127.0.0.1"
        "; .venv/bin/gunicorn -c gunicorn.conf.py --check-config wsgi:app"
        "; .venv/bin/celery -A wsgi:celery report"
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(tmp_path_factory.mktemp("machine")) as found:
        copy_code(found.root / "srv" / "frontdesk")
        lend_packages(found)
        found.run(steps()[0])
        import_once(found)
        yield found


@pytest.fixture(scope="module")
def base(installed: Machine, redis_url: str) -> Iterator[str]:
    """Where the service answers that the page's commands have started."""
    port = free_port()
    with (installed.root / "etc/frontdesk.env").open("a") as settings:
        settings.write(f"{SETTINGS}CORE__CELERY_BROKER_URL={redis_url}\n")
    override = installed.root / "etc/systemd/system/frontdesk.socket.d/port.conf"
    override.parent.mkdir(parents=True)
    override.write_text(f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{port}\n")
    _, start, start_worker, _ = steps()
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


def test_systemd_has_nothing_to_say_about_the_units(installed: Machine) -> None:
    names = " ".join(f"/srv/frontdesk/{unit.relative_to(ROOT)}" for unit in UNITS)
    assert installed.run(f"systemd-analyze verify {names}") == ""


def test_the_pages_commands_lead_to_a_running_service(base: str, installed: Machine) -> None:
    assert requests.get(f"{base}/health/ready", timeout=10).json()["status"] == "ok"
    running = installed.run("systemctl show -P ActiveState frontdesk frontdesk-worker").split()
    assert running == ["active", "active"]
    assert installed.run("stat -c %U:%a /srv/frontdesk/instance/*.db") == "frontdesk:600\n"


def test_what_the_service_does_it_may_do_in_its_sandbox(
    base: str, root: requests.Session, installed: Machine
) -> None:
    assert root.post(f"{base}/profiles", json=ADA).status_code == 200
    picture = {"avatar": ("x.png", plain("PNG"), "image/png")}
    assert root.put(f"{base}/profiles/avatar", files=picture).status_code == 200
    installed.run("systemctl reload frontdesk; systemctl restart frontdesk")
    assert root.get(f"{base}/account").status_code == 200


def test_the_worker_sends_what_is_to_be_delivered(
    base: str, root: requests.Session, installed: Machine
) -> None:
    data = {"title": "x", "message": "y", "channels": ["inapp", "email"]}
    assert root.post(f"{base}/admin/notifications/", json={"data": data}).status_code == 201
    outbox = "stat -c %U /srv/frontdesk/instance/outbox/*.eml"
    within(20, lambda: installed.run(outbox, check=False).startswith("frontdesk\n"))


def test_the_nightly_prune_comes_to_its_end(base: str, installed: Machine) -> None:
    installed.run("systemctl start frontdesk-prune")
    assert "frontdesk-prune.timer" in installed.run("systemctl list-timers --no-pager")


def test_a_command_runs_with_the_services_settings(base: str, installed: Machine) -> None:
    said = installed.run(f"cd /srv/frontdesk; {steps()[3]}", check=False)
    assert "secret_key" not in said
    assert re.search(r"^0 errors", said, re.M), said


def test_no_start_with_a_key_that_everybody_knows(base: str, installed: Machine) -> None:
    settings = installed.root / "etc/frontdesk.env"
    right = settings.read_text()
    settings.write_text(f"{right}SECRET_KEY=changethis\n")
    installed.run("! systemctl restart frontdesk")
    said = installed.run("journalctl --no-pager --unit frontdesk")
    assert "aborts startup: SECRET_KEY is a placeholder from documentation or examples" in said
    settings.write_text(right)
    installed.run("systemctl reset-failed frontdesk frontdesk.socket; systemctl restart frontdesk")
