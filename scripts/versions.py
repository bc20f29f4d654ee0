"""`make versions`: tests with the lowest versions of all dependencies on the oldest Python, and
with the newest versions on the newest Python; CSV files in LibreOffice; and the React example.

For a Debian machine's root, with buildah, mmdebstrap, LibreOffice, PostgreSQL, Redis, Node,
Chromium and nginx. A Python
that this machine does not have comes from a Debian release, in a container.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement

from .environment import OLDEST, ROOT, stop
from .image import BASE, SHARED_FILES, Builder, step
from .pins import DEVELOPMENT, read

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The release with the oldest Python, and the next release: Debian's testing.
OLD_RELEASE, NEXT_RELEASE = "bookworm", "testing"
PACKAGES = ("python3-venv", "redis-server", "pgbouncer", "nodejs")
# Further packages that the tests import, at the pinned version in both runs.
TOOLS = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "playwright",
    "aiosmtpd",
    "asgiref",
    "httpx",
    "flask-wtf",
)
# A few tests for each dependency, on SQLite and PostgreSQL: start, migrations, sign-in, mail,
# Redis, MFA, identity provider, pictures, SMS, metrics, traces and the documentation's page.
TESTED = (
    "tests/server/test_start.py::test_flask_run_logs_each_warning_once",
    "tests/core/test_migrations.py::test_migrations_match_the_models",
    "tests/auth/test_login.py",
    "tests/core/test_keystore.py",
    "tests/core/test_library_internals.py",
    "tests/delivery/test_mailer.py",
    "tests/delivery/test_flask_mail.py::test_applications_message_uses_the_connection",
    "tests/auth/test_passkeys.py::test_added_passkey_signs_in_without_a_username",
    "tests/auth/test_totp.py",
    "tests/auth/test_idp_sign_in.py::test_response_is_the_same_as_for_login",
    "tests/accounts/test_foreign_hashes.py::test_new_hash_of_the_installed_library_matches",
    "tests/profiles/test_avatars.py::test_avatar_is_served_at_the_url_in_the_profile",
    "tests/notifications/test_sms.py",
    "tests/monitoring/test_metrics.py::test_requests_are_counted_by_route_and_status",
    "tests/monitoring/test_tracing.py::test_request_and_its_sql_are_one_span",
    "tests/core/test_docs_page.py::test_only_files_of_the_page_are_served",
)
# On this machine, with its own environment.
IN_LIBREOFFICE = ("-k", "sqlite", "tests/console/in_libreoffice.py")
IN_REACT = ("tests/project/in_react.py",)
# A step that takes longer stops the run. CI runs other steps at the same time.
STEP_SECONDS = 300
FORWARDED = ("SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "FRONTDESK_TEST_POSTGRES")


def main() -> None:
    wanted = sys.argv[1:] or ["lowest", "newest", "libreoffice", "react"]
    with TemporaryDirectory(prefix="frontdesk-versions-") as folder:
        if "lowest" in wanted:
            lowest(Path(folder))
        if "newest" in wanted:
            newest(Path(folder))
        for name, tests in (("libreoffice", IN_LIBREOFFICE), ("react", IN_REACT)):
            if name in wanted:
                machine = Machine(Path(folder) / name)
                machine.run(sys.executable, "-m", "pytest", "-q", *tests)


def lowest(folder: Path) -> None:
    python = shutil.which(f"python{'.'.join(map(str, OLDEST))}")
    machine = Machine(folder / "lowest") if python else Container(folder / "lowest", OLD_RELEASE)
    # In the folder that the container shares.
    constraints = machine.folder / "lowest.txt"
    constraints.write_text("".join(f"{pin}\n" for pin in lowest_pins()))
    options = ("--resolution", "lowest-direct", "-c", str(constraints))
    try_versions("lowest", machine, python or "/usr/bin/python3", options)


def newest(folder: Path) -> None:
    container = Container(folder / "newest", NEXT_RELEASE)
    try_versions("newest", container, "/usr/bin/python3", ("--upgrade",))


def lowest_pins() -> Iterable[str]:
    """Yield the lower bound of each dependency as a pin."""
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]
    for requirement in map(Requirement, lines):
        bounds = [each for each in requirement.specifier if each.operator == ">="]
        if requirement.name != PROJECT["name"]:
            yield f"{requirement.name}=={bounds[0].version}"


def try_versions(name: str, machine: Machine, python: str, resolution: tuple[str, ...]) -> None:
    environment = machine.folder / "venv"
    inside = str(environment / "bin" / "python")
    uv = [str(ROOT / ".venv" / "bin" / "uv"), "pip", "install", "--quiet", "--python", inside]
    tools = [f"{pin.name}=={pin.version}" for pin in read(DEVELOPMENT) if pin.name in TOOLS]
    wanted = ["-r", "pyproject.toml", "--all-extras", *tools]

    def install() -> None:
        machine.run(python, "-m", "venv", "--without-pip", str(environment))
        machine.run(*uv, "--only-binary", ":all:", *wanted, *resolution)

    step(f"The {name} versions", install)
    machine.run(inside, "--version")
    processes = ("-n", str(os.cpu_count() or 1), "--dist", "loadfile")
    # A plugin of httpx without a pin.
    options = ("-p", "no:anyio")
    machine.run(inside, "-m", "pytest", "-q", *options, *processes, *TESTED)


def run(words: Sequence[str], env: dict[str, str] | None = None) -> None:
    """Run a command and show its output. A failure or a timeout stops the whole run."""
    try:
        done = subprocess.run(words, cwd=ROOT, env=env, check=False, timeout=STEP_SECONDS)
    except subprocess.TimeoutExpired:
        stop(f"It took more than {STEP_SECONDS} seconds: {' '.join(words)}")
    if done.returncode:
        stop(f"It failed: {' '.join(words)}")


class Machine:
    """This machine."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.environment = {
            **{name: os.environ[name] for name in FORWARDED if name in os.environ},
            "UV_CACHE_DIR": str(folder / "cache"),
            "FRONTDESK_NO_SKIPS": "1",
        }

    def run(self, *words: str) -> None:
        environment = {**os.environ, **self.environment}
        run(words, env=environment)


class Container(Machine):
    """A Debian release as a chroot on this machine's network, with the checkout in its place."""

    def __init__(self, folder: Path, release: str) -> None:
        super().__init__(folder)
        self._builder = Builder(folder)
        step(f"Debian {release}", lambda: self._builder.make_base(release, *PACKAGES))
        self._name = self._builder.run("from", BASE)

    def run(self, *words: str) -> None:
        shared = [f"--volume={path}:{path}:ro" for path in SHARED_FILES if os.path.exists(path)]
        volumes = [f"--volume={path}:{path}" for path in (ROOT, self.folder)]
        settings = [f"--env={name}={value}" for name, value in self.environment.items()]
        options = ["--isolation=chroot", f"--workingdir={ROOT}", *shared, *volumes, *settings]
        command = self._builder.command("run", *options, self._name, "--", *words)
        run(command)


if __name__ == "__main__":
    main()
