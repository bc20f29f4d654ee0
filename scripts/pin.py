"""`make pin`: writes requirements.txt and requirements-dev.txt: every required package, for every
platform and every Python that Frontdesk supports, with the digests of its files.

pyproject.toml has the direct requirements. Existing pins stay, except with `--upgrade` or
`--upgrade-package NAME`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .environment import OLDEST, ROOT
from .pins import DEVELOPMENT, RUNTIME, read

_UV = [
    *(sys.executable, "-m", "uv", "pip", "compile", "--quiet"),
    *("--universal", "--python-version", ".".join(map(str, OLDEST))),
    *("--generate-hashes", "--no-header", "--no-annotate"),
]


def main() -> None:
    upgrades = sys.argv[1:]
    resolve(RUNTIME, "pyproject.toml", "--all-extras", "--group", "server", *upgrades)
    resolve(DEVELOPMENT, "--group", "dev", "--constraints", RUNTIME.name, *upgrades)
    # The development file includes the other. A package that only some platforms need at run time
    # is in both.
    known = {(pin.name, pin.marker) for pin in read(RUNTIME)}
    more = [pin.text for pin in read(DEVELOPMENT) if (pin.name, pin.marker) not in known]
    DEVELOPMENT.write_text("".join(more))
    entitle(RUNTIME, "Packages of the service; written by `make pin`.")
    entitle(DEVELOPMENT, "Packages for development only; written by `make pin`.")
    DEVELOPMENT.write_text(f"{DEVELOPMENT.read_text()}-r {RUNTIME.name}\n")


def resolve(path: Path, *wanted: str) -> None:
    subprocess.run([*_UV, *wanted, "--output-file", path.name], cwd=ROOT, check=True)


def entitle(path: Path, title: str) -> None:
    path.write_text(f"# {title}\n{path.read_text()}")


if __name__ == "__main__":
    main()
