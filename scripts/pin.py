"""`make pin`: writes requirements.txt and requirements-dev.txt: every package that is needed, for
every platform and every Python that Frontdesk runs on, with the digests of its files.

The direct ones stand in pyproject.toml. A pin that is there stays as it is, unless `--upgrade`, or
`--upgrade-package NAME`, asks for a newer one.
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
    # The second includes the first. One that only some platforms need at run time stands in both.
    known = {(pin.name, pin.marker) for pin in read(RUNTIME)}
    more = [pin.text for pin in read(DEVELOPMENT) if (pin.name, pin.marker) not in known]
    DEVELOPMENT.write_text("".join(more))
    entitle(RUNTIME, "What the service runs on; written by `make pin`.")
    entitle(DEVELOPMENT, "What only its development needs; written by `make pin`.")
    DEVELOPMENT.write_text(f"{DEVELOPMENT.read_text()}-r {RUNTIME.name}\n")


def resolve(path: Path, *wanted: str) -> None:
    subprocess.run([*_UV, *wanted, "--output-file", path.name], cwd=ROOT, check=True)


def entitle(path: Path, title: str) -> None:
    path.write_text(f"# {title}\n{path.read_text()}")


if __name__ == "__main__":
    main()
