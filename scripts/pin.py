"""Writes requirements.txt and requirements-dev.txt: every package that is needed, at the version
that is installed here. Run with the environment's own Python after changing a dependency.

The direct ones stand in pyproject.toml; these files add what those bring along.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"

# The sum of the others; and tracing, which whoever wants it installs beside the service.
LEFT_OUT = ("all", "tracing")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    groups = project["dependency-groups"]
    runtime = [
        *project["project"]["dependencies"],
        *(line for name, lines in extras.items() if name not in LEFT_OUT for line in lines),
        *groups["server"],
    ]
    needed = closure(runtime)
    write(RUNTIME, "What the service runs on; written by scripts/pin.py.", needed)
    more = {name: version for name, version in closure(groups["dev"]).items() if name not in needed}
    write(DEVELOPMENT, "What only its development needs; written by scripts/pin.py.", more)


def closure(lines: Iterable[str]) -> dict[str, str]:
    """The named packages and all they need on this platform, with the installed versions."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            package = distribution(requirement.name)
            found[name] = package.version
            for line in package.requires or []:
                inner = Requirement(line)
                if inner.marker is None or inner.marker.evaluate({"extra": extra}):
                    waiting.append(inner)
    return found


def write(path: Path, title: str, packages: dict[str, str]) -> None:
    lines = [f"{name}=={version}" for name, version in sorted(packages.items())]
    path.write_text("\n".join([f"# {title}", *lines, ""]))


if __name__ == "__main__":
    main()
