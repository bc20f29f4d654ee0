"""`make image`: builds the image of the Dockerfile, starts it, and waits until it is healthy;
without a registry and a daemon.

Run it as root on Debian, with buildah and mmdebstrap. The base image is made of Debian's packages,
with Debian's Python instead of the Dockerfile's base image. The containers are chroots in this
machine's network.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .environment import ROOT, stop

BASE, IMAGE = "localhost/base", "localhost/frontdesk"
PORT = 8000
SETTINGS = {
    "SECRET_KEY": "for this run only, and then discarded",
    "FIRST_SUPERUSER_PASSWORD": "also for this run only",
    "CORE__KEYSTORE": "database",
    "CORE__METRICS_ENABLED": "true",
    "CORE__TRACING_ENABLED": "true",
    "WEB_CONCURRENCY": "2",
}
# pip in the build uses the same certificates and mirrors as pip on this machine.
SHARED_FILES = ("/etc/pip.conf", "/etc/xdg/pip", "/etc/ssl/certs")


def main() -> None:
    for program in ("buildah", "mmdebstrap"):
        if shutil.which(program) is None:
            stop(f"{program} is not installed.")
    if is_listening():
        stop(f"Port {PORT} is in use, and the image's health check uses this port.")
    with TemporaryDirectory() as folder:
        builder = Builder(Path(folder))
        release = platform.freedesktop_os_release()["VERSION_CODENAME"]
        packages = ("python3-venv", "python-is-python3")
        step("A base of Debian's packages", lambda: builder.make_base(release, *packages))
        step("The image", builder.build)
        container = Container(builder)
        step("Dependencies, migrations and the first account", container.prepare)
        step("The start fails with a publicly known key", container.reject_known_key)
        with container.serving():
            step("Healthy", container.become_healthy)
            step("The health check fails for another path", container.check_failure)
        step("Stopped", lambda: until(lambda: not is_listening(), "The server is still running."))


class Builder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *words: str) -> list[str]:
        return [
            "buildah",
            "--root",
            f"{self.folder}/storage",
            "--runroot",
            f"{self.folder}/run",
            *words,
        ]

    def run(self, *words: str) -> str:
        return output(*self.command(*words)).strip()

    def make_base(self, release: str, *packages: str) -> None:
        archive = self.folder / "base.tar"
        included = f"--include={','.join(packages)}"
        options = ["--quiet", "--variant=minbase", included, "--dpkgopt=force-unsafe-io"]
        # A mirror can be some weeks behind the next release.
        options += ["--aptopt=Acquire::Check-Valid-Until false"]
        output("mmdebstrap", *options, release, str(archive))
        container = self.run("from", "scratch")
        self.run("add", "--quiet", container, str(archive), "/")
        self.run("commit", "--quiet", container, BASE)
        archive.unlink()

    def build(self) -> None:
        volumes = [f"--volume={path}:{path}:ro" for path in SHARED_FILES if os.path.exists(path)]
        # The other format has no health check.
        options = ["--isolation=chroot", "--format=docker", f"--build-arg=PYTHON={BASE}", *volumes]
        self.run("build", "--quiet", *options, f"--tag={IMAGE}", str(ROOT))

    def image_config(self) -> Any:
        return json.loads(self.run("inspect", "--type=image", IMAGE))["Docker"]["config"]


class Container:
    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._name = builder.run("from", IMAGE)
        image_config = builder.image_config()
        self._served: list[str] = image_config["Cmd"]
        kind, *self._check = image_config["Healthcheck"]["Test"]
        assert kind == "CMD"
        assert image_config["User"] == "frontdesk"

    def command(self, *words: str, **more: str) -> list[str]:
        settings = [f"--env={name}={value}" for name, value in (SETTINGS | more).items()]
        return self._builder.command(
            "run", "--isolation=chroot", *settings, self._name, "--", *words
        )

    def prepare(self) -> None:
        output(*self.command("pip", "check"))
        output(*self.command("flask", "--app", "wsgi", "db", "upgrade"))
        output(*self.command("flask", "--app", "wsgi", "accounts", "ensure-superuser"))

    def reject_known_key(self) -> None:
        if succeeds(*self.command(*self._served, SECRET_KEY="changethis")):
            stop("The image starts with a publicly known key.")

    @contextmanager
    def serving(self) -> Iterator[None]:
        process = subprocess.Popen(self.command(*self._served))
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)

    def become_healthy(self) -> None:
        until(lambda: succeeds(*self.command(*self._check)), "The image does not become healthy.")

    def check_failure(self) -> None:
        if succeeds(*self.command(*self._check, CORE__API_V1_STR="/elsewhere")):
            stop("The health check also succeeds for another path.")


def step(title: str, work: Any) -> None:
    began = time.monotonic()
    print(title, end=" … ", flush=True)
    work()
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def until(holds: Any, otherwise: str) -> None:
    for _ in range(120):
        if holds():
            return
        time.sleep(0.5)
    stop(otherwise)


def is_listening() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        stop(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
