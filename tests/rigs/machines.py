"""A container with a real systemd (systemd-nspawn), over a copy-on-write layer of this machine's
disk. The container has this machine's programs and network, and none of its services.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .backends import missing


class Machine:
    def __init__(self, root: Path, leader: int) -> None:
        self.root = root
        self._leader = leader

    def run(self, commands: str, *, check: bool = True) -> str:
        """Run a shell script as root and return its output; the first error ends the script."""
        done = subprocess.run(
            [
                "nsenter",
                *("-t", str(self._leader)),
                *("-m", "-u", "-i", "-p", "-C"),
                "sh",
                "-ec",
                commands,
            ],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{commands}\n{done.stdout}"
        return done.stdout


@contextmanager
def machine(folder: Path) -> Iterator[Machine]:
    if os.geteuid() != 0 or shutil.which("systemd-nspawn") is None:
        missing("systemd-nspawn is not installed, or the user is not root")
    with ExitStack() as stack:
        root = stack.enter_context(_layered(folder))
        # Services that are enabled on this machine.
        for wanted in (root / "etc/systemd/system").glob("*.wants"):
            shutil.rmtree(wanted)
        (root / "etc/machine-id").unlink(missing_ok=True)
        yield stack.enter_context(_booted(root, folder / "boot.log"))


@contextmanager
def _layered(folder: Path) -> Iterator[Path]:
    layer, root = folder / "layer", folder / "root"
    layer.mkdir()
    root.mkdir()
    with _mounted("tmpfs", layer):
        for name in ("upper", "work"):
            (layer / name).mkdir()
        options = f"lowerdir=/,upperdir={layer}/upper,workdir={layer}/work"
        with _mounted("overlay", root, "-o", options):
            yield root


@contextmanager
def _mounted(kind: str, where: Path, *options: str) -> Iterator[None]:
    done = subprocess.run(["mount", "-t", kind, *options, kind, where], capture_output=True)
    if done.returncode:
        missing(f"cannot mount: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", where], check=True)


@contextmanager
def _booted(root: Path, log: Path) -> Iterator[Machine]:
    options = ["--register=no", "--keep-unit", "--machine=frontdesk-test", "--console=pipe"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                "systemd-nspawn",
                f"--directory={root}",
                *options,
                "--boot",
                "systemd.unit=basic.target",
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield _ready(root, process, log)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _ready(root: Path, process: subprocess.Popen[bytes], log: Path) -> Machine:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if leader := children.read_text().split():
            found = Machine(root, int(leader[0]))
            state = found.run("systemctl is-system-running", check=False).strip()
            if state in ("running", "degraded"):
                return found
        time.sleep(0.1)
    raise TimeoutError(f"The machine did not start: {log.read_text()}")
